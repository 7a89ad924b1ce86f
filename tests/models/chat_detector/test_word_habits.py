"""Words and pairs have slots of their own, and a text's length does not make its score."""

import zlib

import numpy as np
import pytest

from obelics_pipeline.models.chat_detector.word_habits import SLOTS, heaviest, length_of, log_odds, slots_of
from obelics_pipeline.models.forest import SCALE


def test_words_and_pairs_are_counted_by_roots() -> None:
    slots, roots = slots_of(["a", "b", "a", "b", "a", "b", "a", "b"])
    assert len(slots) == 4  # a, b, "a b", "b a"
    assert sorted(roots.tolist()) == [443, 512, 512, 512]  # roots of 3 and 4, in 1 / 256
    assert length_of(["a", "b"] * 4) == 991  # the root of 15


def test_a_pair_is_told_from_its_words_and_from_the_pair_the_other_way_round() -> None:
    assert set(slots_of(["in", "conclusion"])[0]) != set(slots_of(["conclusion", "in"])[0])


@pytest.mark.parametrize("tokens", [[], ["word"]])
def test_a_text_of_hardly_any_words_has_log_odds(tokens: list[str]) -> None:
    assert log_odds(np.ones(SLOTS, np.int8), 1, tokens) == len(tokens) * SCALE


def test_log_odds_are_the_weights_of_the_words_by_the_length() -> None:
    weights = np.zeros(SLOTS, np.int8)
    weights[slots_of(["delve"])[0]] = -32
    # Of 5 words and pairs the length is the root of 5.
    assert log_odds(weights, 64, ["they", "delve", "in"]) / SCALE == pytest.approx(-0.5 / 5**0.5, abs=0.002)


def test_check_sums_of_words_with_a_lone_surrogate_are_taken_too() -> None:
    assert len(slots_of(["\ud800"])[0]) == 1


def test_the_heaviest_words_and_pairs_are_named_first_and_those_of_people_never() -> None:
    weights = np.zeros(SLOTS, np.int8)
    for one, weight in (("delve", 10), ("delve into", 30), ("into", -50), ("vibrant", 9), ("of", 99)):
        weights[zlib.crc32(one.encode()) % SLOTS] = weight
    tokens = ["delve", "into", "vibrant", "vibrant", "towns", "of"]
    assert heaviest(weights, tokens, 8) == ["delve into", "vibrant", "delve"]  # 9 times the root of 2 is over 10
    assert heaviest(weights, tokens, 1) == ["delve into"]
    assert heaviest(weights, [], 8) == []
