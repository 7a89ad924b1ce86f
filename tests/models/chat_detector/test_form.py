"""How a text was stored does not show in the form that is judged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.chat_detector.form import FEWEST_WORDS, WORDS, enough, form_of, tokens_of


@pytest.mark.parametrize(
    "stored",
    [
        "He said: \"It's here.\" Then he left, didn't he?",
        "He said: “It’s here.” Then he left, didn’t he?",
        "He said: ''It's here.''\n\nThen he left, didn't he?",
        "  He said :\t\"It's here.\"Then he left , did n't he ?\n",
    ],
)
def test_ways_to_store_a_text_have_one_form(stored: str) -> None:
    assert form_of(stored) == "He said: \"It's here.\" Then he left, didn't he?"


def test_only_the_beginning_is_read() -> None:
    words = [f"w{'x' * (number % 7)}" for number in range(WORDS + 50)]
    assert form_of(" ".join(words)).split() == words[:WORDS]


def test_numbers_with_points_and_names_are_not_parted() -> None:
    assert form_of("Version 3.11 of e.g. the U.S.A. came.") == "Version 3.11 of e.g. the U.S.A. came."


@pytest.mark.parametrize("broken", ["It ended.\\n\\nNext day", "It ended. nnNext day", "It ended.nNext day"])
def test_what_is_left_of_an_escaped_line_break_parts_sentences(broken: str) -> None:
    assert form_of(broken) == "It ended. Next day"


def test_tokens_are_words_numbers_and_marks() -> None:
    assert tokens_of("Don't pay 1,000.50 dollars!") == ("Don't", "pay", "1,000.50", "dollars", "!")


def test_only_words_make_a_text_long_enough() -> None:
    words = ["boat"] * FEWEST_WORDS
    assert enough([*words, "."])
    assert not enough([*words[1:], ".", "3", "'"])


@given(st.text())
def test_any_text_has_a_form_without_layout(text: str) -> None:
    form = form_of(text)
    assert form == " ".join(form.split())
