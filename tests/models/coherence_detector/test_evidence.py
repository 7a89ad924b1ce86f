"""What the order of sentences, and what returns in them, says of a text."""

import pytest

from obelics_pipeline.models.coherence_detector.evidence import evidence, names
from obelics_pipeline.models.coherence_detector.reading import FEWEST, read
from obelics_pipeline.models.coherence_detector.repetition import MISSING
from tests.models.coherence_detector.small import IN_ORDER, OUT_OF_ORDER, vectors

AGAIN = (
    "The dog found a bone. It ate the bone. A cat saw rain. The rain fell. A boy lost money. The money was lent. "
    "Two women sang songs. The songs were long. A knight broke his sword. The sword was old."
)


def measured(text: str) -> dict[str, float]:
    found = read(text, vectors())
    assert found is not None
    return evidence(vectors(), found)


def test_sentences_follow_better_in_their_order_than_in_another() -> None:
    ordered, disordered = measured(IN_ORDER), measured(OUT_OF_ORDER)
    assert ordered["step_1_in_deviations"] > 1.5 > 0.5 > disordered["step_1_in_deviations"]
    assert ordered["steps_above"] == 1
    assert ordered["alike_next_over_far"] > disordered["alike_next_over_far"]


def test_what_does_not_depend_on_the_order_stays() -> None:
    ordered, disordered = measured(IN_ORDER), measured(OUT_OF_ORDER)
    assert ordered["different_words"] == disordered["different_words"]
    assert ordered["alike"] == disordered["alike"]


def test_words_that_return_stand_near_each_other_in_order() -> None:
    parts = AGAIN.split(". ")
    apart = ". ".join(part.rstrip(".") for part in parts[::2] + parts[1::2]) + "."
    assert measured(AGAIN)["again_within_1"] > 3 > measured(apart)["again_within_1"] == 0


def test_one_word_in_every_sentence_is_seen() -> None:
    found = measured("The plumber comes to you. " * FEWEST)
    assert found["sentences_with_word_1"] == 1
    assert found["runs_of_4_again"] > 0.8 and found["beginnings_again"] > 0.8
    assert measured(AGAIN)["runs_of_4_again"] == 0


def test_quotes_that_do_not_close_are_seen() -> None:
    closed = '"Come in," he said. We sat down. '
    assert measured(closed * 4)["quotes_open"] == 0
    assert measured((closed.replace('in,"', "in,") + "\n") * 4)["quotes_open"] == 1


@pytest.mark.parametrize("text", ["A.\n" * FEWEST, "a b c d\n" * 50, "( ) x\n" * 9])
def test_every_text_has_the_same_numbers(text: str) -> None:
    assert set(measured(text)) == names(vectors())
    assert list(measured(text)) == list(measured(IN_ORDER))
    assert measured("A.\n" * FEWEST)["again_within_1"] == MISSING
