"""Words of any alphabet, and marks."""

import unicodedata

from obelics_pipeline.models.chat_detector.form import form_of
from obelics_pipeline.models.wording_detector.tokens import tokens_of


def test_words_of_other_letters_are_whole() -> None:
    assert tokens_of("Größe, niño; сегодня: 3,5 km!") == ["Größe", ",", "niño", ";", "сегодня", ":", "3,5", "km", "!"]


def test_a_word_before_an_apostrophe_is_one_of_its_own() -> None:
    assert tokens_of("l'homme dell'anno don't") == ["l'", "homme", "dell'", "anno", "don'", "t"]
    assert tokens_of("the dogs' tails") == ["the", "dogs", "'", "tails"]


def test_the_same_text_stored_in_another_way_has_the_same_tokens() -> None:
    assert tokens_of(form_of("«Ещё раз», „naïve“")) == tokens_of('"Еще раз", "naïve"')
    assert tokens_of(unicodedata.normalize("NFD", "où était")) == tokens_of("où était")
