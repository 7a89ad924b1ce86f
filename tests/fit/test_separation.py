"""The figures of a report, on scores whose figures are known."""

import numpy as np
import pytest

from obelics_pipeline.fit.separation import Scored, separate, table


def scored(positive: list[float], negative: list[float], source: str = "") -> list[Scored]:
    return [Scored(True, source, score) for score in positive] + [Scored(False, source, score) for score in negative]


def test_auc_is_the_share_of_pairs_in_order_and_ties_count_half() -> None:
    found = separate(scored([0.9, 0.5], [0.5, 0.1]))
    assert found is not None
    assert found.auc == 3.5 / 4


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_auc_agrees_with_counting_every_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positive, negative = rng.integers(0, 9, 40) / 10, rng.integers(0, 7, 60) / 10
    found = separate(scored(positive.tolist(), negative.tolist()))
    pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
    assert found is not None
    assert found.auc == pytest.approx(sum(pairs) / len(pairs))


def test_at_most_one_percent_of_the_positives_is_below_the_threshold() -> None:
    found = separate(scored([i / 200 for i in range(200)], [0.0, 0.009, 0.011, 0.5]))
    assert found is not None
    assert (found.threshold, found.lost, found.caught) == (0.01, 0.01, 0.5)


def test_equal_scores_are_never_caught() -> None:
    found = separate(scored([0.3] * 10, [0.3] * 10))
    assert found is not None
    assert (found.lost, found.caught, found.auc) == (0.0, 0.0, 0.5)


def test_each_source_has_its_share_below_the_threshold() -> None:
    rows = [*scored([0.8] * 4, [0.1, 0.9], "news"), *scored([0.8], [0.1], "blog")]
    found = separate(rows)
    assert found is not None
    of_source = {(row.label, row.source): (row.texts, row.below) for row in found.sources}
    assert of_source == {
        ("positive", "news"): (4, 0.0), ("negative", "news"): (2, 0.5),
        ("positive", "blog"): (1, 0.0), ("negative", "blog"): (1, 1.0),
    }  # fmt: skip
    assert "  negative news: 2 texts, 50.00 % below the threshold" in table(found)


def test_without_one_of_the_kinds_there_is_no_figure() -> None:
    assert separate(scored([0.5], [])) is None
    assert separate(scored([], [0.5])) is None
