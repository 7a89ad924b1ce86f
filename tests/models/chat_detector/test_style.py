"""Numbers of how a text is written, counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.chat_detector.form import tokens_of
from obelics_pipeline.models.chat_detector.style import MISSING, style_of

SHORT = "It is so. "
TEXT = "The boats, slowly moving, went home; I didn't see 12 of them! In NATO they speak of movement. "


def test_marks_numerals_and_words_are_shares_of_tokens() -> None:
    numbers = style_of(tokens_of(TEXT))
    assert numbers["mark_,"] == 2 / 23 and numbers["mark_;"] == numbers["mark_!"] == numbers["mark_."] == 1 / 23
    assert (numbers["words"], numbers["numerals"]) == (17 / 23, 1 / 23)


def test_words_of_grammar_endings_and_capitals_are_shares_of_words() -> None:
    numbers = style_of(tokens_of(TEXT))
    assert numbers["word_the"] == numbers["word_i"] == 1 / 17 and numbers["word_of"] == 2 / 17
    assert numbers["ending_ly"] == numbers["ending_ing"] == numbers["ending_ment"] == 1 / 17
    assert numbers["ending_s"] == 1 / 17 and numbers["ending_ed"] == 0
    assert style_of(["is", "as", "boats"])["ending_s"] == 1 / 3  # short words have none
    assert (numbers["capitals"], numbers["all_capitals"], numbers["contractions"]) == (4 / 17, 1 / 17, 1 / 17)


def test_sentences_have_a_length_a_spread_and_an_opening() -> None:
    even, uneven = style_of(tokens_of(TEXT * 8)), style_of(tokens_of((SHORT + TEXT * 2) * 8))
    assert even["sentence_mean"] == pytest.approx(11.5) and even["sentence_deviation"] == pytest.approx(4.5)
    assert uneven["sentence_deviation"] > even["sentence_deviation"]
    assert (even["opening_the"], even["opening_in"], even["openings"]) == (0.5, 0.5, 2 / 16)
    assert uneven["short_sentences"] == 24 / 40 and even["short_sentences"] == 8 / 16


def test_what_is_said_again_is_a_share_of_the_words_in_a_row() -> None:
    assert style_of(["a", "b", "a", "b", "a", "b", "a"])["again_2"] == pytest.approx(4 / 6)
    assert style_of(["a", "b", "c"])["again_3"] == 0
    assert style_of([f"{letter}{second}" for letter in "abcdefgh" for second in "abcdefgh"])["distinct_50"] == 1
    assert style_of(["a"] * 50)["distinct_50"] == 1 / 50


def test_what_there_is_too_little_text_for_is_missing() -> None:
    numbers = style_of([])
    assert numbers["openings"] == numbers["distinct_50"] == numbers["again_2"] == MISSING


@given(st.text())
def test_any_text_has_the_same_names_and_no_number_below_missing(text: str) -> None:
    numbers = style_of(tokens_of(text))
    assert list(numbers) == list(style_of([]))
    assert min(numbers.values()) >= MISSING
