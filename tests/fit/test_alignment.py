import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.fit import alignment
from obelics_pipeline.fit.alignment import shares_in, words

texts = st.lists(st.text("ab 漢字ก.,", max_size=12), max_size=6)


def shares(article: str, *texts: str) -> list[float]:
    found = shares_in(article, texts)
    assert found is not None
    return [round(share, 2) for share in found.tolist()]


def test_words_of_scripts_without_spaces_are_characters() -> None:
    assert words("Two words, 漢字 und ไทย") == ["Two", "words", "漢", "字", "und", *words("ไทย")]
    assert len(words("ไทย")) == 3


def test_texts_of_the_article_are_told_from_the_others() -> None:
    assert shares("one two three four five", "menu", "one two three", "six seven", "four five") == [0, 1, 0, 1]


def test_the_share_is_that_of_a_texts_own_words() -> None:
    assert shares("one two", "one two three four", "漢字") == [0.5, 0]


def test_a_word_counts_at_one_place() -> None:
    # The article has the word once: of two texts that say it, only the one in its place is the article's.
    assert shares("alpha beta gamma delta", "gamma", "alpha beta gamma delta") == [0, 1]


def test_a_text_without_words_has_no_share() -> None:
    assert shares("one", "", "one", "…") == [0, 1, 0]
    assert shares("", "one") == [0]
    assert shares("one") == []


@given(texts)
def test_a_page_that_is_all_article_is_found_whole(page: list[str]) -> None:
    found = shares_in("\n".join(page), page)
    assert found is not None
    assert found.tolist() == [float(bool(words(text))) for text in page]


@given(texts, st.text("ab 漢字", max_size=20))
def test_shares_are_shares(page: list[str], article: str) -> None:
    found = shares_in(article, page)
    assert found is not None
    assert len(found) == len(page)
    assert np.all((found >= 0) & (found <= 1))


def test_what_is_too_long_to_compare_has_no_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "_MOST_PAIRS", 8)
    assert shares_in("a a a", ["a", "a"]) is not None
    assert shares_in("a a a", ["a", "a a"]) is None
