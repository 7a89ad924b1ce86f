"""What a text says again is found, also where a name or a number is another."""

from collections.abc import Sequence

import pytest

from obelics_pipeline.models.wording_detector.again import (
    of_what_is_said_again,
    said_compiled,
    said_in_numpy,
    wrong_again,
)
from obelics_pipeline.models.wording_detector.reading import read_tokens
from obelics_pipeline.models.wording_detector.shares import COMPILED
from obelics_pipeline.models.wording_detector.vocabulary import Vocabulary
from tests.models.coherence_detector.texts import hard_texts
from tests.models.wording_detector.small import PLAIN, WRONG, english, phrasing, read

SAID = "we mend roofs in {} and call back within {} days for a small fee ."
KNOWN = Vocabulary((*map("filler{}".format, range(160)), *"we in and call back for a small fee . days within".split()))


def measured(tokens: Sequence[str]) -> dict[str, float]:
    return dict(of_what_is_said_again(read_tokens(tokens, KNOWN)))


def test_a_text_that_says_nothing_twice_has_nothing_again() -> None:
    found = measured("one boat lies there and nobody comes to fetch what it brought home today .".split())
    assert found["again_3"] == found["frame_again_9"] == found["openings_again"] == 0
    assert found["distinct"] == found["said_once"] == 1


def test_sentences_that_are_said_again_are_found() -> None:
    found = measured((SAID.format("ulm", 3) + " ").split() * 4)
    assert found["again_8"] > 0.6 and found["openings_again"] == 0.75
    assert found["distinct"] == 13 / 52 and found["said_once"] == 0


def test_a_form_is_found_whatever_fills_it() -> None:
    words = " ".join(SAID.format(town, days) for town, days in (("ulm", 3), ("bonn", 40), ("trier", 9))).split()
    found = measured(words)
    assert found["again_8"] < 0.3
    assert found["frame_again_9"] > 0.5


def test_what_is_said_again_is_named_once_for_each_time_from_a_word_to_where_it_differs() -> None:
    text = ". waited at the door for a letter . waited at the door for a man . the old man waited at the door"
    tokens = read(english(), f"the boat of the harbour {text}")
    found = [(" ".join(tokens.lower[one.first : one.last + 1]), one.times) for one in wrong_again(english(), tokens)]
    assert found == [("waited at the door for a", 2)] * 2


def test_what_is_said_more_often_or_longer_has_higher_odds() -> None:
    def odds(text: str) -> float:
        return max(one.log_odds for one in wrong_again(english(), read(english(), text)))

    short, long = "the old man waited at . ", "the old man waited at the door for a letter . "
    assert odds(long * 2) > odds(short * 2)
    assert odds(short * 3) > odds(short * 2 + "in the morning they went to ")


@pytest.mark.skipif(not COMPILED, reason="the compiled counts were not built")
def test_compiled_what_is_said_again_is_counted_as_by_numpy() -> None:
    for text in (*hard_texts(), PLAIN, WRONG, "", "the", ". . .", "the boat. The boat. The boat."):
        tokens = read(phrasing(), text)
        assert list(said_compiled(tokens)) == said_in_numpy(tokens), text[:80]
