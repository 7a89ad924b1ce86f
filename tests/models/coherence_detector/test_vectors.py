"""Products of the vectors of sentences, in whole numbers."""

import numpy as np

from obelics_pipeline.models.coherence_detector.vectors import UNIT
from tests.models.coherence_detector.small import vectors


def test_a_sentence_follows_best_one_that_shares_its_traits() -> None:
    made = vectors()
    found = made.follow(made.read([["harbour", "market"], ["market", "church"], ["castle"]]))
    assert found.dtype == np.int64 and found.shape == (3, 3)
    assert found[0, 0] > found[0, 1] > found[0, 2] == 0
    assert found[2, 2] == UNIT * UNIT


def test_subjects_are_alike_both_ways() -> None:
    made = vectors()
    found = made.alike(made.read([["harbour", "market"], ["market", "church"]]))
    assert found[0, 1] == found[1, 0] > 0


def test_a_sentence_of_unknown_traits_is_near_nothing() -> None:
    made = vectors()
    assert not made.follow(made.read([["zebra"], []])).any()
