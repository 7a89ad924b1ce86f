"""Numbers with a spread: added, scaled, and shown without false precision."""

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.interval import Interval, rounded, total

numbers = st.floats(0, 1e15, allow_nan=False)
intervals = st.tuples(numbers, numbers, numbers).map(lambda three: Interval(*sorted(three)))


@given(st.lists(intervals, max_size=5), st.floats(0, 1e6))
def test_the_best_value_stays_between_its_bounds(found: list[Interval], factor: float) -> None:
    value = total(found) * factor
    assert value.low <= value.point <= value.high


@given(st.floats(1e-6, 1e15))
def test_two_digits_are_shown_and_no_more(value: float) -> None:
    text = rounded(value)
    size = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.get(text[-1], 1)
    shown = float(text.rstrip("kMGT").replace(",", "")) * size
    assert abs(shown - value) <= 0.051 * value
    assert len(text.rstrip("kMGT0").replace(",", "").replace(".", "").strip("0")) <= 2 or value >= 1e15


def test_what_has_no_spread_is_shown_exactly() -> None:
    assert str(Interval.exactly(12_345)) == "12,345"
    assert str(Interval(90, 123, 456)) == "120 (90–460)"
    assert str(Interval(120.2, 120.4, 120.6)) == "120"
    assert rounded(8.0) == "8"
    assert rounded(0) == "0"
