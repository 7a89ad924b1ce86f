"""The likeliest kind is told, with its probability, by the trees of each kind in turn."""

import numpy as np
import pytest

from obelics_pipeline.models.forest import NODE, SCALE, Forest
from obelics_pipeline.models.page_type import KINDS, MODEL, PageType, judge


def forest(*log_odds: float) -> Forest:
    """Trees of one leaf, which give each kind these log odds, in rounds of a tree for each kind."""
    leaves = [(-1, 0.0, round(SCALE * value)) for value in log_odds]
    return Forest(("a",), np.array(leaves, NODE), np.arange(len(leaves), dtype=np.int32))


NUMBERS = np.zeros(1, np.float32)


def test_the_trees_of_a_kind_are_added_up() -> None:
    first, second = (0.0, 1, 0, 0, 0, 0, 2), (0.0, 2, 0, 0, 0, 0, -2)
    found = judge(NUMBERS, forest(*first, *second))
    assert found == PageType("forum", round(float(np.exp(3) / (np.exp(3) + 6)), 3))


def test_of_equal_kinds_the_first_is_told() -> None:
    assert judge(NUMBERS, forest(*[0.0] * 7)) == PageType("article", round(1 / 7, 3))


@pytest.mark.parametrize("size", [0.001, 1e4])
def test_a_probability_is_one_however_large_the_log_odds(size: float) -> None:
    found = judge(NUMBERS, forest(*[-size] * 6, size))
    assert 1 / 7 - 0.001 <= found.probability <= 1
    assert found.kind == "service"


def test_the_shipped_model_has_trees_of_every_kind() -> None:
    trees = len(Forest.load(MODEL).roots)
    assert trees and trees % len(KINDS) == 0
