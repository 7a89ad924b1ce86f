"""Every text has the same numbers, all of them finite; and each says what its name says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector.evidence import MISSING, evidence
from obelics_pipeline.models.farm_detector.network import HEADS, LOG_ODDS_ONE
from obelics_pipeline.models.farm_detector.tokens import Vocabulary, find_tokens
from tests.models.farm_detector.small import WORDS, detector

VOCABULARY = Vocabulary([*WORDS, *(f"filler{letter}" for letter in "abcdefghijklmnopqrstuvwxyz" * 6), "crew", "rope"])
NAMES = set(detector().evidence("The old boat is here. " * 20) or {})


def numbers(text: str, log_odds: NDArray[np.float64] | None = None) -> dict[str, float]:
    tokens = find_tokens(text)
    said = np.zeros((len(tokens), len(HEADS))) if log_odds is None else log_odds
    topics = np.random.default_rng(5).integers(-127, 128, (len(VOCABULARY), 8)).astype(np.int8)
    return evidence(VOCABULARY.read(tokens), (said * LOG_ODDS_ONE).astype(np.int64), topics, VOCABULARY)


@given(st.text(min_size=1, max_size=400).filter(lambda text: bool(find_tokens(text))))
def test_any_text_has_every_number_and_they_are_finite(text: str) -> None:
    found = numbers(text)
    assert set(found) == NAMES
    assert np.isfinite(list(found.values())).all()
    assert all(
        value >= -1 or value == MISSING or "log_odds" in name or "quantile" in name for name, value in found.items()
    )


def test_what_the_network_says_of_one_token_is_seen_in_windows_and_tails_more_than_in_the_mean() -> None:
    said = np.full((200, 3), -8.0)
    said[100:116, 0] = 8.0
    found = numbers("boat " * 200, said)
    assert found["replaced_mean"] == pytest.approx(16 / 200, abs=0.001)
    assert found["replaced_highest_16"] == pytest.approx(1, abs=0.001)
    assert found["replaced_highest_128"] == pytest.approx(16 / 128, abs=0.001)
    assert (found["replaced_over_0.95"], found["replaced_quantile_0.95"]) == (16 / 200, 8.0)
    assert found["junction_highest_16"] < 0.001


def test_a_junction_at_the_begin_of_a_sentence_is_told_from_one_within() -> None:
    text = "The boat. The house! A boat\n\nThe old house."
    begins = [3, 6, 9]  # token numbers of The, A, The
    tokens = find_tokens(text)
    said = np.full((len(tokens), 3), -8.0)
    said[begins, 1] = 8.0
    found = numbers(text, said)
    assert found["junction_at_begins"] == pytest.approx(1, abs=0.001)
    assert found["junction_within"] < 0.001
    assert found["sentences_per_token"] == 3 / len(tokens)


def test_looks_are_counted() -> None:
    found = numbers("Boat, boat 12 zzz sended\nBOAT")
    assert (found["marks"], found["numbers"], found["breaks"]) == (1 / 8, 1 / 8, 1 / 8)
    assert (found["unknown_words"], found["unknown_lower"], found["unknown_endings"]) == (1 / 5, 1 / 5, 1 / 5)
    assert (found["capitals"], found["word_length"]) == (2 / 5, 21 / 5)


def test_repetition_and_diversity() -> None:
    again, fresh = (
        numbers("old boat in the " * 40),
        numbers(" ".join(f"filler{i:c}{j:c}" for i in range(97, 110) for j in range(97, 110))),
    )
    assert again["distinct_50"] == 4 / 50
    assert again["repeated_4"] == pytest.approx(1 - 4 / 157)
    assert again["most_repeated_4"] == 1.0
    assert (fresh["distinct_50"], fresh["repeated_2"], fresh["most_repeated_2"]) == (1.0, 0.0, 0.0)
    assert numbers("old boat")["distinct_50"] == MISSING


def test_sentences_that_share_words_are_told_from_those_that_do_not() -> None:
    same = numbers("fillera fillerb fillerc. " * 6)
    other = numbers("fillera fillerb fillerc. fillerd fillere fillerf. " * 3)
    assert same["words_of_the_next"] == MISSING or same["words_of_the_next"] >= other["words_of_the_next"]
    assert same["topic_nearby"] == pytest.approx(1) != other["topic_nearby"]
    assert numbers("old boat.")["topic_nearby"] == MISSING
