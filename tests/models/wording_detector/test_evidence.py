"""What the habits of people say of a text: wrong words of grammar, and pairs that nobody writes."""

import pytest

from obelics_pipeline.models.wording_detector.evidence import MISSING, evidence
from tests.models.wording_detector.small import PLAIN, WRONG, habits


def measured(text: str) -> dict[str, float]:
    return evidence(habits(), text.replace(".", " .").split())


def test_other_words_of_grammar_fit_better_where_they_were_exchanged() -> None:
    plain, wrong = measured(PLAIN), measured(WRONG)
    assert plain["better_choice_over_1"] == 0
    assert wrong["better_choice_over_1"] > 0.3
    assert wrong["better_choice_0"] > plain["better_choice_0"]
    assert wrong["better_choice_1"] == pytest.approx(plain["better_choice_1"], abs=4)  # articles were left alone


def test_pairs_that_nobody_writes_are_missing() -> None:
    assert measured(PLAIN)["missing"] == 0
    assert measured(WRONG)["missing"] > 0.2


def test_words_that_changed_places_are_found_turned_round() -> None:
    turned = PLAIN.replace("old man", "man old").replace("they went", "went they")
    assert measured(PLAIN)["turned_round"] == 0
    assert measured(turned)["turned_round"] > 0.08


def test_unknown_words_are_no_pairs() -> None:
    found = measured("zebra quagga okapi " * 20)
    assert found["unknown"] == found["unknown_lower"] == 1
    assert found["missing"] == MISSING and found["better_choice"] == MISSING


def test_names_are_unknown_and_not_in_lower_case() -> None:
    found = measured("Zebra Quagga Okapi " * 20)
    assert found["unknown"] == 1 and found["unknown_lower"] == 0


@pytest.mark.parametrize("text", ["", "a", "a .", "the of", "of " * 3])
def test_every_text_has_the_same_numbers(text: str) -> None:
    assert list(measured(text)) == list(measured(PLAIN))
