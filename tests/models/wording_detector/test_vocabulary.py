"""Tokens are numbers of known words, whatever their case."""

from obelics_pipeline.models.wording_detector.reading import read_tokens
from obelics_pipeline.models.wording_detector.vocabulary import FIRST, NUMBER, UNKNOWN, Vocabulary

KNOWN = Vocabulary(("the", "boat", "."))


def test_a_token_has_the_number_of_its_word_in_any_case() -> None:
    tokens = read_tokens(["The", "boat", "BOAT", "lies", "3,5", "."], KNOWN)
    assert tokens.number.tolist() == [FIRST, FIRST + 1, FIRST + 1, UNKNOWN, NUMBER, FIRST + 2]
    assert tokens.is_word.tolist() == [True, True, True, True, False, False]
    assert tokens.lower == ["the", "boat", "boat", "lies", "3,5", "."]


def test_a_text_without_tokens_has_no_numbers() -> None:
    assert len(read_tokens([], KNOWN).number) == 0


def test_places_among_words_are_told_of_those_that_are_known() -> None:
    assert KNOWN.places_among(["ship", "boat", "the"]).tolist() == [-1, -1, 2, 1, -1]
