"""Words and pairs have slots of their own, and a text's length does not make its score."""

import zlib

import numpy as np
import pytest

from obelics_pipeline.models.chat_detector import word_habits
from obelics_pipeline.models.chat_detector.word_habits import (
    SLOTS,
    heaviest,
    length_of,
    read,
    read_in_numpy,
    slots_of,
)
from obelics_pipeline.models.forest import SCALE
from tests.models.coherence_detector.texts import hard_texts


def test_words_and_pairs_are_counted_by_roots() -> None:
    slots, roots = slots_of(["a", "b", "a", "b", "a", "b", "a", "b"])
    assert len(slots) == 4  # a, b, "a b", "b a"
    assert sorted(roots.tolist()) == [443, 512, 512, 512]  # roots of 3 and 4, in 1 / 256
    assert length_of(8) == 991  # the root of 15


def test_a_pair_is_told_from_its_words_and_from_the_pair_the_other_way_round() -> None:
    assert set(slots_of(["in", "conclusion"])[0]) != set(slots_of(["conclusion", "in"])[0])


@pytest.mark.parametrize("tokens", [[], ["word"]])
def test_a_text_of_hardly_any_words_has_log_odds(tokens: list[str]) -> None:
    assert read(np.ones(SLOTS, np.int8), " ".join(tokens)).log_odds(1) == len(tokens) * SCALE


def test_log_odds_are_the_weights_of_the_words_by_the_length() -> None:
    weights = np.zeros(SLOTS, np.int8)
    weights[slots_of(["delve"])[0]] = -32
    # Of 5 words and pairs the length is the root of 5.
    assert read(weights, "they delve in").log_odds(64) / SCALE == pytest.approx(-0.5 / 5**0.5, abs=0.002)


def test_check_sums_of_words_with_a_lone_surrogate_are_taken_too() -> None:
    assert len(slots_of(["\ud800"])[0]) == 1


@pytest.mark.skipif(not word_habits.COMPILED, reason="the compiled weights were not built")
def test_compiled_a_text_is_read_as_by_numpy() -> None:
    random = np.random.default_rng(3)
    weights = random.integers(-127, 128, SLOTS).astype(np.int8)
    words = ["Delve", "into", "\ud800", "Ⓐ", "naïve", "x" * 300, "1,000", ".", "😀", "don't", "\x00"]
    made = [" ".join(words[place] for place in random.integers(0, len(words), count)) for count in (0, 1, 3, 40, 5000)]
    made += [" ".join(f"word{'x' * number}" for number in random.integers(0, 500, count)) for count in (2, 1000)]
    for text in (*hard_texts(), *made):
        assert read(weights, text) == read_in_numpy(weights, text), text[:80]


@pytest.mark.skipif(not word_habits.COMPILED, reason="the compiled weights were not built")
@pytest.mark.parametrize("size", [0, 3, SLOTS - 1])
def test_compiled_nothing_but_a_power_of_two_of_weights_is_taken(size: int) -> None:
    with pytest.raises(ValueError, match="power of two"):
        word_habits.compiled.read(np.zeros(size, np.int8), "word")


def test_the_heaviest_words_and_pairs_are_named_first_and_those_of_people_never() -> None:
    weights = np.zeros(SLOTS, np.int8)
    for one, weight in (("delve", 10), ("delve into", 30), ("into", -50), ("vibrant", 9), ("of", 99)):
        weights[zlib.crc32(one.encode()) % SLOTS] = weight
    tokens = ["delve", "into", "vibrant", "vibrant", "towns", "of"]
    assert heaviest(weights, tokens, 8) == ["delve into", "vibrant", "delve"]  # 9 times the root of 2 is over 10
    assert heaviest(weights, tokens, 1) == ["delve into"]
    assert heaviest(weights, [], 8) == []
