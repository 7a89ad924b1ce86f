"""Scripts without spaces must be cut into words, whatever else is in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.filters.segment import is_unspaced, segmented

SENTENCES = {
    "zh": ("中文文本没有空格", 4),
    "ja": ("私は日本語を勉強しています", 8),
    "th": ("ภาษาไทยไม่มีช่องว่าง", 5),
    "lo": ("ພາສາລາວບໍ່ມີ", 3),
    "km": ("ភាសាខ្មែរគ្មាន", 2),
    "my": ("မြန်မာစာ", 2),
    "bo": ("བོད་སྐད་ཡིག", 3),
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_becomes_words(language: str) -> None:
    sentence, least = SENTENCES[language]
    found = segmented([sentence])
    assert len(found) >= least
    assert all(word in sentence for word in found)


@pytest.mark.parametrize("text", ["plain", "naïve", "Привет", "العربية", "हिन्दी", "한국어", "ελληνικά", "😀", ""])
def test_a_script_with_spaces_is_left_alone(text: str) -> None:
    assert not is_unspaced(text)
    assert segmented([text]) == [text]


def test_punctuation_and_digits_are_no_words() -> None:
    assert segmented(["中文，「文本」123。"]) == ["中文", "文本"]


def test_the_long_vowel_mark_stays_on_its_word() -> None:
    assert segmented(["コンピューターを使う"])[0] == "コンピューター"


@given(st.lists(st.text(st.one_of(st.characters(exclude_categories=()), st.sampled_from("中文สวัสดี\ud800ー")))))
def test_any_words_can_be_segmented(words: list[str]) -> None:
    for word in segmented(words):
        assert word in words or any(map(str.isalpha, word))
