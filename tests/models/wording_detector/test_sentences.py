"""What kind of words and sentences a text has."""

import pytest

from obelics_pipeline.models.wording_detector.sentences import (
    counts_compiled,
    counts_in_numpy,
    ends,
    of_sentences,
    words_of_a_sentence,
)
from obelics_pipeline.models.wording_detector.shares import COMPILED, compiled
from obelics_pipeline.models.wording_detector.words import of_words
from tests.models.coherence_detector.texts import hard_texts
from tests.models.wording_detector.small import PLAIN, WRONG, english, phrasing, read


def measured(text: str) -> dict[str, float]:
    tokens = read(english(), text)
    return dict([*of_words(english(), tokens), *of_sentences(tokens)])


def test_words_that_are_not_known_are_told() -> None:
    assert measured(PLAIN)["unknown"] == 0
    found = measured("zebra quagga okapi " * 20)
    assert found["unknown"] == found["unknown_lower"] == 1


def test_names_are_unknown_and_not_in_lower_case() -> None:
    found = measured("Zebra Quagga Okapi " * 20)
    assert found["unknown"] == 1 and found["unknown_lower"] == 0


def test_words_of_a_sentence_are_counted_without_marks() -> None:
    assert words_of_a_sentence(read(english(), "One, two. Three four five six!")) == 3


def test_brackets_that_nobody_closes_are_counted() -> None:
    closed, open_ = measured("he ( and she ) went . " * 20), measured("he ( and she went . " * 20)
    assert closed["round_not_closed"] == 0 and closed["round_brackets"] == 40
    assert open_["round_not_closed"] > 20


def test_sentences_that_go_on_without_a_capital_are_told() -> None:
    assert measured(PLAIN)["begins_lower"] == 0
    assert measured(PLAIN.lower())["begins_lower"] == 1


@pytest.mark.skipif(not COMPILED, reason="the compiled counts were not built")
def test_compiled_sentences_are_counted_as_by_numpy() -> None:
    for text in (*hard_texts(), PLAIN, WRONG, "", "the", ") ) (", "((a [b) c]]", ', , . ! ? " a. b'):
        tokens = read(phrasing(), text)
        assert list(counts_compiled(tokens)) == counts_in_numpy(tokens), text[:80]
        where = tokens.number, tokens.lowered, tokens.lower_begins, tokens.is_word
        assert compiled.ends(*where) == ends(tokens).sum()
