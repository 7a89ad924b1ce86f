"""Habits of each kind say the same numbers of every text."""

import pytest

from obelics_pipeline.models.wording_detector.habits import Habits
from tests.models.wording_detector.small import PLAIN, english, phrasing, read


@pytest.mark.parametrize("habits", [english(), phrasing()])
@pytest.mark.parametrize("text", ["", "a", "a .", "the of", "of " * 3])
def test_every_text_has_the_same_numbers(habits: Habits, text: str) -> None:
    assert list(habits.evidence(read(habits, text))) == list(habits.evidence(read(habits, PLAIN)))
