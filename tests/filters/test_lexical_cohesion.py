"""How much sentences speak of what those before them did."""

from random import Random

from obelics_pipeline.filters.lexical_cohesion import LexicalCohesion
from obelics_pipeline.filters.text import Text

STORY = (
    "The ferry left the harbour at dawn. The harbour was still, and the ferry made no wave. "
    "On the ferry stood a woman with a basket. The woman had bread in the basket. "
    "Nobody asked about the bread. At noon the woman shared the bread with the crew. The crew thanked the woman."
)
LIST = "Rain falls. Prices climb. Teams lose. Kings sleep. Bells ring. Cats wander."


def score(text: str, **more: bool) -> float | None:
    return LexicalCohesion().score(Text(text, "en", **more))


def test_a_story_holds_together_and_a_list_of_unrelated_sentences_does_not() -> None:
    assert (score(STORY) or 0) > 0.4
    assert score(LIST) == 0


def test_what_is_said_again_and_again_has_the_highest() -> None:
    assert score("Cheap garden hoses online. " * 6) == 1


def test_only_the_three_sentences_before_count() -> None:
    far = "Ferry. Rain falls. Teams lose. Kings sleep. Ferry."
    near = "Rain falls. Ferry. Teams lose. Kings sleep. Ferry."
    assert (score(far), score(near)) == (0, 0.25)


def test_words_of_three_letters_and_less_say_nothing() -> None:
    assert (
        score("The fox and crows. The fox and bears. The fox and hounds. The fox and grapes. The fox and wells.") == 0
    )


def test_words_of_four_letters_count() -> None:
    assert score("Rain falls. Rain fell. Rain came. Rain went. Rain stopped.") == 0.5


def test_few_sentences_have_no_score() -> None:
    assert score("Rain falls. Prices climb. Teams lose. Kings sleep.") is None
    assert score("") is None
    assert score("... ! ?") is None


def test_sentences_out_of_order_hold_together_less() -> None:
    parts = [f"The {name} spoke at length. Then the {name} slept soundly." for name in ("captain", "baker", "doctor",
             "painter", "farmer", "singer", "teacher", "lawyer")]  # fmt: skip
    sentences = " ".join(parts).replace(". ", ".\n").split("\n")
    Random(1).shuffle(sentences)
    assert (score(" ".join(parts)) or 0) > (score(" ".join(sentences)) or 1)


def test_lines_and_other_scripts_have_sentences_too() -> None:
    assert score("Garden hoses\nGarden hoses\nGarden hoses\nGarden hoses\nGarden hoses") == 1
    text = "水曜日に新聞記者会見が行われた。" * 5
    assert LexicalCohesion().score(Text(text, "ja")) == 1
