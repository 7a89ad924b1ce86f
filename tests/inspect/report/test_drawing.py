"""Tallies and histograms lose no value, and lines stand where thresholds are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.filtering import Bounds, LanguageBounds, Threshold
from obelics_pipeline.inspect.report.histogram import HEIGHT, TOP, WIDTH, Histogram, Mark, histogram_of
from obelics_pipeline.inspect.report.tally import DROPPED, KEPT, ReasonTally
from obelics_pipeline.inspect.report.thresholds import distance, in_words, marks_of

NUMBERS = st.one_of(st.floats(-1e9, 1e9), st.integers(0, 5000).map(float), st.just(float("nan")), st.just(float("inf")))


def tally_of(values: list[float], outcomes: list[int] | int = KEPT) -> ReasonTally:
    tally = ReasonTally()
    tally.add(np.array(values), np.array(outcomes) if isinstance(outcomes, list) else np.full(len(values), outcomes))
    return tally


def drawn(tally: ReasonTally, *marks: Mark) -> Histogram:
    found = histogram_of(tally, marks)
    assert found is not None
    return found


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 2)), max_size=60), st.integers(0, 60))
def test_a_tally_counts_each_value_and_outcome_in_any_order(rows: list[tuple[float, int]], cut: int) -> None:
    one, other = ReasonTally(), ReasonTally()
    for tally, parts in ((one, (rows[:cut], rows[cut:])), (other, (rows[::-1],))):
        for part in parts:
            tally.add(np.array([v for v, _ in part], float), np.array([o for _, o in part], int))
    fine = [(v, o) for v, o in rows if np.isfinite(v)]
    values, counts = one.sorted()
    assert one.total == len(fine)
    assert counts.sum(axis=0).tolist() == [sum(o == outcome for _, o in fine) for outcome in range(3)]
    assert [a.tolist() for a in one.sorted()] == [a.tolist() for a in other.sorted()]
    assert np.repeat(values, counts.sum(axis=1)) == pytest.approx(sorted(v for v, _ in fine), rel=1e-5)


@given(st.lists(st.integers(0, 262_144), min_size=1, max_size=50), st.floats(0.01, 1))
def test_quantiles_of_whole_numbers_are_exact(numbers: list[int], share: float) -> None:
    expected = sorted(numbers)[max(1, int(np.ceil(share * len(numbers)))) - 1]
    assert tally_of([float(n) for n in numbers]).quantile(share) == expected


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.lists(st.floats(-1e6, 1e6), max_size=3))
def test_every_value_is_in_a_bar_and_every_mark_on_the_axis(values: list[float], marks: list[float]) -> None:
    chart = drawn(tally_of(values), *(Mark(value, "≥") for value in marks))
    assert sum(int(piece.title.rpartition(": ")[2].split()[0].replace(",", "")) for piece in chart.pieces) == len(
        values
    )
    assert all(-1 <= piece.x <= WIDTH and piece.y >= TOP - 2 and piece.height <= HEIGHT + 1 for piece in chart.pieces)
    assert len(chart.lines) == len(marks)
    assert all(0 <= line.x <= WIDTH for line in chart.lines)
    assert all(0 <= x <= WIDTH for x, _ in chart.ticks)


def test_counts_of_a_few_have_a_bar_each_and_a_minimum_stands_left_of_its_own() -> None:
    chart = drawn(tally_of([0.0, 1.0, 1.0, 3.0], [DROPPED, KEPT, KEPT, KEPT]), Mark(1, "≥ 1"))
    assert [piece.outcome for piece in chart.pieces] == ["dropped", "kept", "kept"]
    assert chart.lines[0].x == chart.pieces[1].x


def test_a_wide_spread_of_counts_has_a_logarithmic_axis_and_shares_have_not() -> None:
    chart = drawn(tally_of([0.0, *[20.0] * 50, *[900.0] * 5]))
    assert chart.log_axis
    assert chart.ticks[0] == (0, "0")
    assert not drawn(tally_of([1.0] * 50 + [30.0] * 5)).log_axis  # a bar for each
    assert not drawn(tally_of([20.0, 30.0, 40.0])).log_axis
    assert not drawn(tally_of([0.001] * 50 + [0.9] * 5)).log_axis


def test_one_tall_bar_makes_heights_logarithmic_and_what_is_there_can_be_seen() -> None:
    chart = drawn(tally_of([0.0] * 5001 + [0.5, 0.7, 0.9], [KEPT] * 5000 + [DROPPED] * 4))
    assert chart.log_height
    assert chart.tallest == 5001
    assert all(piece.height >= 1 for piece in chart.pieces)


def test_a_tally_of_more_than_is_sorted_at_once_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [float(i % 17) for i in range(100)]
    whole, parts = tally_of(values), ReasonTally()
    monkeypatch.setattr("obelics_pipeline.inspect.report.tally._AT_ONCE", 7)
    for value in values:
        parts.add(np.array([value]), np.array([KEPT]))
    assert parts.total == 100
    assert [a.tolist() for a in parts.sorted()] == [a.tolist() for a in whole.sorted()]


def test_nothing_is_drawn_of_nothing_and_one_value_is_drawn() -> None:
    assert histogram_of(ReasonTally()) is None
    assert len(drawn(tally_of([1e12])).pieces) == 1


def test_thresholds_are_said_by_language_and_genre() -> None:
    bounds = Threshold(
        min=0.1, roles=("paragraph",), languages={"zh": Bounds(min=0.03), "ja": Bounds(min=0.03), "th": None},
        genres={"verse": Bounds(max=2)},
    )  # fmt: skip
    assert in_words(bounds) == [
        "must be ≥ 0.1, but",
        "languages ja, zh: must be ≥ 0.03",
        "language th: drops nothing",
        "genre verse: must be ≤ 2",
        "asked of: paragraph",
    ]
    assert in_words(LanguageBounds()) == ["measured only: it drops nothing"]
    assert in_words(LanguageBounds(sample=[(0, 1), (0.5, 0.1)])) == ["a share is kept: 1 at 0, 0.1 at 0.5"]
    marks = [(mark.value, mark.label, mark.faint) for mark in marks_of(bounds)]
    assert marks == [(0.03, "≥ 0.03", True), (0.1, "≥ 0.1", False), (2, "≤ 2", True)]


def test_the_distance_is_to_the_nearest_bound() -> None:
    values = np.array([1.0, 9.0, 30.0])
    assert distance(Bounds(min=4, max=10), values).tolist() == [3, 1, 20]
    assert distance(None, values).tolist() == [0, 0, 0]
    assert distance(Bounds(sample=[(0.5, 1.0)]), values).tolist() == [0, 0, 0]
