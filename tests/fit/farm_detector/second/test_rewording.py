"""Other words get the ending of the one that they replace, and names and words of grammar stay."""

from random import Random

import pytest

from obelics_pipeline.fit.farm_detector.marked_text import plain
from obelics_pipeline.fit.farm_detector.second.rewording import Reworder, _with_ending
from obelics_pipeline.fit.farm_detector.second.topics import Topics
from obelics_pipeline.fit.farm_detector.second.wordnet import VERB, Sense, Wordnet
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

TEXT = " ".join(["They walked and he walks while the Walks Company stopped walking there."] * 30)


@pytest.mark.parametrize(
    ("marked", "written"),
    [
        ("go on", "go on"),
        ("study+s", "studies"),
        ("play+s", "plays"),
        ("pass+s", "passes"),
        ("take off+ing", "taking off"),
        ("carry+ed", "carried"),
        ("move+ed", "moved"),
        ("saunter+ed", "sauntered"),
    ],
)
def test_endings(marked: str, written: str) -> None:
    assert _with_ending(marked) == written


def test_words_are_exchanged_and_those_of_grammar_stay() -> None:
    topics = Topics(TrustedTexts([TEXT]))
    reworder = Reworder(topics, Wordnet({"walk": [Sense(VERB, ["stroll"], [])], "they": [Sense(VERB, ["no"], [])]}))
    random = Random(1)
    made = [reworder.reworded(random) for _ in range(40)]
    words = {piece.text for text in made for piece in text if piece.replaced}
    assert {"strolled", "strolls", "strolling"} <= words
    assert words <= {"stroll", "strolled", "strolls", "strolling", "Strolls", "Stroll"}
    assert all("They" in plain(text) and "Company" in plain(text) for text in made)
