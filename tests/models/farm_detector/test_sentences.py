"""Sentences and what they have are the same, to the last number, compiled and in NumPy."""

import numpy as np
import pytest
from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector import sentences as module
from obelics_pipeline.models.farm_detector.sentences import (
    Sentences,
    sentences_compiled,
    sentences_in_numpy,
    sentences_of,
)
from obelics_pipeline.models.farm_detector.tokens import FIRST_WORD, LOOKS, Vocabulary, find_tokens

compiled = pytest.mark.skipif(not module.COMPILED, reason="the compiled sentences were not built")

NUMBERS = FIRST_WORD + 400
ENDS = np.array([FIRST_WORD, FIRST_WORD + 1, 1], np.int32)
GRAMMAR = [f"grammar{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(147)]


def topics(width: int) -> NDArray[np.int8]:
    return np.random.default_rng(width).integers(-127, 128, (NUMBERS, width)).astype(np.int8)


def rows(tokens: int, words: int, marks: float) -> NDArray[np.int32]:
    """Tokens of so many different words, a share of which are marks that may end a sentence."""
    random = np.random.default_rng(tokens * 100 + words)
    made = random.integers([NUMBERS - words, 0, 4], [NUMBERS, 9, LOOKS], (tokens, 3))
    is_mark = random.random(tokens) < marks
    made[is_mark] = random.integers([0, 0, 1], [FIRST_WORD + 3, 1, 4], (int(is_mark.sum()), 3))
    return made.astype(np.int32)


def same(one: Sentences, other: Sentences) -> bool:
    return all(np.array_equal(a, b) and np.shape(a) == np.shape(b) for a, b in zip(one, other, strict=True))


@compiled
@pytest.mark.parametrize("marks", [0.0, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("words", [1, 10, 300])
@pytest.mark.parametrize("tokens", [1, 3, 4, 30, 256, 768])
def test_compiled_they_are_the_same(tokens: int, words: int, marks: float) -> None:
    for width in (1, 32):
        given = rows(tokens, words, marks), topics(width), ENDS
        assert same(sentences_compiled(*given), sentences_in_numpy(*given))


@compiled
@pytest.mark.parametrize("number", [-1, NUMBERS])
def test_compiled_a_number_without_topics_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="do not fit together"):
        sentences_compiled(np.array([(0, 0, 4), (number, 0, 4)], np.int32), topics(2), ENDS)


def test_words_of_meaning_that_sentences_share_are_counted() -> None:
    vocabulary = Vocabulary([".", "!", "?", *GRAMMAR, "harbour", "boat", "house", "old", "new", "send"])
    text = (
        f"Old boat, {GRAMMAR[0]} harbour. New boat {GRAMMAR[0]} house!\n\nNo. Send boat to house. Old boat at harbour."
    )
    found = sentences_of(vocabulary.read(find_tokens(text)).rows, np.ones((len(vocabulary), 1), np.int8), vocabulary)
    assert len(found.begins) == 4 and len(found.words) == 17  # nothing ended before the first word
    assert found.in_each.tolist() == [3, 3, 3, 3]  # `No.` is too short
    assert found.next.tolist() == [1, 2, 1] and found.third.tolist() == [3]
    assert (found.said, found.of_others) == (12, 10)
    assert found.topics.tolist() == [[4], [4], [4], [4]]
