"""Other words of grammar fit better where they were exchanged."""

from dataclasses import replace

import numpy as np
import pytest

from obelics_pipeline.models.wording_detector.choices import (
    choices,
    of_choices,
    parts_compiled,
    parts_in_numpy,
    wrong_choices,
)
from obelics_pipeline.models.wording_detector.habits import Habits
from obelics_pipeline.models.wording_detector.shares import COMPILED, MISSING
from tests.models.coherence_detector.texts import hard_texts
from tests.models.wording_detector.small import PLAIN, WRONG, english, phrasing, read


def measured(habits: Habits, text: str) -> dict[str, float]:
    return dict(of_choices(habits, read(habits, text)))


@pytest.mark.parametrize("habits", [english(), phrasing()])
def test_another_word_fits_better_where_one_was_exchanged(habits: Habits) -> None:
    plain, wrong = measured(habits, PLAIN), measured(habits, WRONG)
    assert plain["better_choice_over_1"] == 0
    assert wrong["better_choice_over_1"] > 0.1
    assert wrong["better_choice_0"] > plain["better_choice_0"]


@pytest.mark.skipif(not COMPILED, reason="the compiled counts were not built")
@pytest.mark.parametrize("habits", [english(), phrasing()])
def test_compiled_they_are_counted_as_by_numpy(habits: Habits) -> None:
    for text in (*hard_texts(), PLAIN, WRONG, "", "the", "he of the boat"):
        tokens = read(habits, text)
        assert list(parts_compiled(habits, tokens)) == parts_in_numpy(habits, tokens), text[:80]


def test_words_of_a_set_that_was_left_alone_fit_as_before() -> None:
    plain, wrong = (measured(english(), text) for text in (PLAIN, WRONG))
    assert wrong["better_choice_over_1"] > 0.3
    assert wrong["better_choice_1"] == pytest.approx(plain["better_choice_1"], abs=4)  # articles


def test_what_fits_best_is_of_the_same_set() -> None:
    found = choices(english(), read(english(), PLAIN.replace("to the harbour", "to of harbour")))  # an article fits
    assert len(found.places)
    assert english().set_of[found.own].tolist() == english().set_of[found.best].tolist()


@pytest.mark.parametrize("habits", [english(), phrasing()])
def test_a_text_without_words_of_grammar_has_no_choices(habits: Habits) -> None:
    assert set(measured(habits, "zebra quagga okapi " * 20).values()) == {MISSING}


def test_habits_without_sets_have_no_choices() -> None:
    known = phrasing()
    none = replace(
        known, sets=np.full_like(known.sets, -1), choices=known.choices[:, :, :0], prior=np.zeros(0, np.int16)
    )
    assert set(measured(none, PLAIN).values()) == {MISSING}


@pytest.mark.parametrize("habits", [english(), phrasing()])
def test_words_are_named_with_what_fits_better(habits: Habits) -> None:
    assert not list(wrong_choices(habits, read(habits, PLAIN)))
    found = list(wrong_choices(habits, read(habits, WRONG)))
    assert found and all(one.log_odds > 0 and one.instead in habits.choice_words for one in found)
