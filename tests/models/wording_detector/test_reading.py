"""A text is read the same, to the last number, compiled and in Python."""

import random
from dataclasses import fields

import pytest

from obelics_pipeline.models.chat_detector.form import tokens_of as english_tokens_of
from obelics_pipeline.models.wording_detector import reading as module
from obelics_pipeline.models.wording_detector.reading import read_any, read_english, read_tokens
from obelics_pipeline.models.wording_detector.tokens import tokens_of
from obelics_pipeline.models.wording_detector.vocabulary import Tokens, Vocabulary
from tests.models.coherence_detector.texts import hard_texts

compiled = pytest.mark.skipif(not module.COMPILED, reason="the compiled reading was not built")
KNOWN = Vocabulary(("the", "l'", "don't", "straße", "ς", "σ", "i̇", "2.5", "²", "#", "ⓐ", "\ud800", "a" * 70))
SIGNS = "abzÄÉßΣσςİıǅﬁ世٣²½Ⓐ #.,'!?«»ʼёЁ_-\u0301\ud800\n"


def texts() -> list[str]:
    drawn = random.Random(1)
    made = ["".join(drawn.choices(SIGNS, k=200)) for _ in range(100)]
    return [*hard_texts(), *made, "", " ", "ΟΔΟΣ Σ ΣΑΣ' İ İstanbul", "A" * 70 + " " + "a" * 71]


def values_of(tokens: Tokens) -> dict[str, object]:
    found = {one.name: getattr(tokens, one.name).tolist() for one in fields(tokens) if one.type in {"Whole", "Flags"}}
    del found["begins"], found["ends"]  # by Python they are of tokens with blanks between them
    return found | {"written": tokens.written, "lower": tokens.lower, "mark": tokens.mark.tolist()}


@compiled
def test_compiled_english_is_read_as_python_reads_it() -> None:
    for text in texts():
        found = read_tokens(english_tokens_of(text), KNOWN)
        assert values_of(read_english(text, KNOWN)) == values_of(found), text[:80]


@compiled
def test_compiled_any_language_is_read_as_python_reads_it() -> None:
    for text in texts():
        assert values_of(read_any(text, KNOWN)) == values_of(read_tokens(tokens_of(text), KNOWN)), text[:80]


def test_tokens_stand_where_they_are_in_the_form() -> None:
    form = "Don't go - the 2.5 miles, café."
    tokens = read_english(form, KNOWN)
    assert tokens.written == ["Don't", "go", "-", "the", "2.5", "miles", ",", "caf", "."]
    assert tokens.lower[0] == "don't" and not tokens.as_written[0]
    assert [int(mark) for mark in tokens.mark[[2, 3, 8]]] == [ord("-"), 0, ord(".")]


def test_the_same_word_has_one_number_of_its_text_whatever_its_case() -> None:
    assert read_any("the Boat, the boat.", KNOWN).own.tolist() == [0, 1, 2, 0, 1, 3]
