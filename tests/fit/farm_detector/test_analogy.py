"""An ending goes to another word only as it came from the first, and only between words of the thesaurus."""

import pytest

from obelics_pipeline.fit.farm_detector.analogy import inflected, readings
from obelics_pipeline.fit.farm_detector.inflection import Reading


@pytest.mark.parametrize(
    ("word", "lemma", "other", "form"),
    [
        ("suchte", "suchen", "prüfen", "prüfte"), ("häuser", "haus", "gebäude", None), ("alten", "alt", "ur", "uren"),
        ("chantait", "chanter", "parler", "parlait"), ("cantaba", "cantar", "hablar", "hablaba"),
        ("parlava", "parlare", "cantare", "cantava"), ("casas", "casa", "lar", "lars"),
    ],
)  # fmt: skip
def test_the_ending_of_a_form_goes_to_another_base_form(word: str, lemma: str, other: str, form: str | None) -> None:
    found = readings(word, {lemma})
    assert found[0] == Reading(word, "")
    assert [reading.lemma for reading in found[1:]] == ([lemma] if form else [])
    for reading in found[1:]:
        assert inflected(other, reading.ending) == form


def test_a_word_that_ends_in_another_way_is_left_as_it_is() -> None:
    (_, reading) = readings("suchte", {"suchen"})
    assert inflected("handeln", reading.ending) == "handeln"
    assert inflected("prüfen lassen", reading.ending) == "prüfte lassen"
