"""A word is known by itself, by its stem, or by its ending and looks; any text can be read."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.farm_detector import tokens as module
from obelics_pipeline.models.farm_detector.tokens import (
    BREAK,
    BY_STEM,
    CAPITALIZED,
    DIGITS,
    ENDINGS,
    LINE,
    LOOKS,
    LOWER,
    MARK,
    MIXED,
    NOT_KNOWN,
    NUMBER,
    PARAGRAPH,
    UNKNOWN,
    UPPER,
    Read,
    Vocabulary,
    find_tokens,
    first_tokens,
)
from tests.models.coherence_detector.texts import hard_texts

KNOWN = Vocabulary(["the", "send", ".", "boat", "don't"])


def test_words_numbers_marks_and_breaks_are_tokens() -> None:
    assert find_tokens("Don’t pay 1,200.50 for the well-known\nboat!\n\n\nÇa va… 漢字") == [
        "Don’t", "pay", "1,200.50", "for", "the", "well-known", "\n", "boat", "!", "\n\n\n", "Ça", "va", "…", "漢字",
    ]  # fmt: skip


@given(st.text(st.sampled_from("ab1 .\n’-x"), max_size=80), st.integers(1, 12))
def test_the_first_tokens_are_those_of_the_whole_text(text: str, count: int) -> None:
    assert first_tokens(text, count) == find_tokens(text)[:count]
    assert first_tokens("unbrokenword" * 9 + f" {text}", count) == find_tokens("unbrokenword" * 9 + f" {text}")[:count]


@pytest.mark.parametrize(
    ("token", "number", "looks"),
    [
        ("the", KNOWN.number("the"), LOWER),
        ("The", KNOWN.number("the"), CAPITALIZED),
        ("THE", KNOWN.number("the"), UPPER),
        ("tHe", KNOWN.number("the"), MIXED),
        ("Don’t", KNOWN.number("don't"), CAPITALIZED),
        ("sended", KNOWN.number("send"), LOWER + BY_STEM),
        ("Boats", KNOWN.number("boat"), CAPITALIZED + BY_STEM),
        ("boatness", KNOWN.number("boat"), LOWER + BY_STEM),
        ("boatnesses", UNKNOWN, LOWER + NOT_KNOWN),
        ("th", UNKNOWN, LOWER + NOT_KNOWN),
        ("thea", KNOWN.number("the"), LOWER + BY_STEM),
        ("17", NUMBER, DIGITS),
        ("²", NUMBER, DIGITS),
        (".", KNOWN.number("."), MARK),
        ("☃", UNKNOWN, MARK),
        ("\ud800", UNKNOWN, MARK),
        ("\n", LINE, BREAK),
        ("\n\n\n", PARAGRAPH, BREAK),
    ],
)
def test_what_is_known_of_a_token(token: str, number: int, looks: int) -> None:
    ((found, ending, seen),) = KNOWN.read([token]).rows.tolist()
    assert (found, seen) == (number, looks)
    assert (ending >= 16) == token[0].isalpha()


def test_words_with_the_same_three_last_letters_have_the_same_ending() -> None:
    endings = KNOWN.read(["walking", "TALKING", "boats", "12", "123456789", "1234567890"]).rows[:, 1].tolist()
    assert endings[0] == endings[1] != endings[2]
    assert endings[3:] == [2, 8, 8]


@given(st.text(max_size=200))
def test_any_text_is_read_the_same_every_time_and_nothing_but_space_is_lost(text: str) -> None:
    tokens = find_tokens(text)
    rows = KNOWN.read(tokens).rows
    assert rows.shape == (len(tokens), 3)
    assert np.array_equal(rows, Vocabulary(KNOWN.words).read(tokens).rows)
    assert (rows >= 0).all()
    assert (rows < [len(KNOWN), ENDINGS, LOOKS]).all()
    assert "".join("".join(tokens).split()) == "".join(text.split())


def test_words_that_differ_in_capitals_alone_have_one_form_and_what_is_no_word_has_no_letters() -> None:
    read = KNOWN.read(["Boat", "boat", "BOATS", "Don’t", "don't", "12", ".", "Boat"])
    assert read.forms[0] == read.forms[1] == read.forms[7] != read.forms[2]
    assert read.forms[3] == read.forms[4]
    assert read.letters.tolist() == [4, 4, 5, 5, 5, 0, 0, 4]
    assert read.capitals.tolist() == [1, 0, 1, 1, 0, 0, 0, 1]


def test_more_tokens_than_are_remembered_are_read_like_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obelics_pipeline.models.farm_detector.tokens._REMEMBERED", 3)
    known = Vocabulary(KNOWN.words)
    tokens = [f"word{letter}" for letter in "abcdefgh"] * 300 + [
        f"w{a}{b}{c}" for a in "abcdefghijk" for b in "abcdefghijk" for c in "abcdefghijk"
    ]
    first = known.read(tokens).rows
    assert len(known._seen) > 1024  # what is kept grew
    assert np.array_equal(first, known.read(tokens).rows)
    assert len(known.read(["boat"]).rows) == len(known._seen) == 1


SIGNS = "abzÄÉßΣσςİıǅﬁ世٣²½Ⓐ #.,'’!?-–_`\u0301\ud800\n"


@pytest.mark.skipif(not module.COMPILED, reason="the compiled tokens were not built")
def test_compiled_the_first_tokens_are_read_as_by_python() -> None:
    drawn = Random(1)
    known = Vocabulary(("the", "send", "l'", "ς", "σας", "i̇", "½", "’", ".", "a" * 70))
    texts = [
        *hard_texts(),
        *("".join(drawn.choices(SIGNS, k=200)) for _ in range(100)),
        "sended ΣΑΣ İs İSTANBUL Sender",
    ]
    for text in texts:
        for count in (1, 7, 256):
            found, expected = known.read_compiled(text, count), known.read(first_tokens(text, count))
            assert as_lists(found) == as_lists(expected), text[:80]


def as_lists(read: Read) -> list[list[object]]:
    """Forms are numbered as they come."""
    numbers: dict[int, int] = {}
    forms = [numbers.setdefault(form, len(numbers)) for form in read.forms.tolist()]
    return [read.rows.tolist(), forms, read.letters.tolist(), read.capitals.tolist()]
