"""Pairs of known words that trusted texts do not have are missing, whatever the habits are of."""

from dataclasses import replace

import pytest

from obelics_pipeline.models.wording_detector.habits import UNIT, Habits
from obelics_pipeline.models.wording_detector.pairs import of_pairs, parts_compiled, parts_in_numpy, wrong_pairs
from obelics_pipeline.models.wording_detector.shares import COMPILED, MISSING
from tests.models.coherence_detector.texts import hard_texts
from tests.models.wording_detector.small import PLAIN, WRONG, english, phrasing, read

pytestmark = pytest.mark.parametrize("habits", [english(), phrasing()])


def measured(habits: Habits, text: str) -> dict[str, float]:
    return dict(of_pairs(habits, read(habits, text)))


@pytest.mark.skipif(not COMPILED, reason="the compiled counts were not built")
def test_compiled_they_are_counted_as_by_numpy(habits: Habits) -> None:
    for text in (
        *hard_texts(),
        PLAIN,
        WRONG,
        PLAIN.replace("old man", "man old"),
        "",
        "the",
        "the boat",
        "the boat of",
    ):
        tokens = read(habits, text)
        assert list(parts_compiled(habits, tokens)) == parts_in_numpy(habits, tokens), text[:80]


def test_pairs_that_nobody_writes_are_missing(habits: Habits) -> None:
    assert measured(habits, PLAIN)["missing"] == 0
    assert measured(habits, WRONG)["missing"] > 0.2


def test_words_that_changed_places_are_found_turned_round(habits: Habits) -> None:
    turned = PLAIN.replace("old man", "man old").replace("they went", "went they")
    assert measured(habits, PLAIN)["turned_round"] == 0
    assert measured(habits, turned)["turned_round"] > 0.08


def test_unknown_words_are_no_pairs(habits: Habits) -> None:
    assert measured(habits, "zebra quagga okapi " * 20)["missing"] == MISSING


def test_pairs_that_nobody_writes_are_named_with_how_often_chance_would_have_them(habits: Habits) -> None:
    tokens = read(habits, PLAIN.replace("the old man", "old the man"))
    named = {" ".join(tokens.lower[one.first : one.last + 1]): one.log_odds for one in wrong_pairs(habits, tokens)}
    assert {"old the", "the man"} <= set(named) and "of the" not in named
    assert named["the man"] > named["of old"]  # the more frequent the words are, the stranger


def test_pairs_that_chance_would_not_have_are_not_named(habits: Habits) -> None:
    larger = replace(habits, total=habits.total + 100 * UNIT)  # logs: of far more texts
    assert not list(wrong_pairs(larger, read(larger, WRONG)))
