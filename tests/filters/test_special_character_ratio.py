import pytest

from obelics_pipeline.filters.special_character_ratio import SpecialCharacterRatio
from obelics_pipeline.filters.text import Text


@pytest.mark.parametrize("text", ["1/4", "$299.00", "+2.7% | 2025"])
def test_numbers_and_prices_of_few_words_are_all_right_where_the_option_says_so(text: str) -> None:
    assert SpecialCharacterRatio().score(Text(text)) > 0.6
    lenient = SpecialCharacterRatio(min_words=4)
    assert lenient.score(Text(text)) == 0.0
    assert lenient.spans(Text(text)) == []


def test_texts_of_as_many_words_are_measured() -> None:
    text = Text("1 2 3 4")
    assert SpecialCharacterRatio(min_words=4).score(text) == SpecialCharacterRatio().score(text) == 1.0
    assert SpecialCharacterRatio(min_words=4).spans(text) == [(0, 7)]


def test_an_empty_text_has_none() -> None:
    assert SpecialCharacterRatio().score(Text("")) == 0.0
