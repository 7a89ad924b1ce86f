"""Habits counted in a few sentences, and detectors by hand."""

from functools import cache

import numpy as np

from obelics_pipeline.fit.wording_detector.habits import count_english, count_phrasing
from obelics_pipeline.models.forest import NODE, SCALE, Forest
from obelics_pipeline.models.wording_detector.detector import WordingDetector
from obelics_pipeline.models.wording_detector.english import English
from obelics_pipeline.models.wording_detector.habits import Habits
from obelics_pipeline.models.wording_detector.phrasing import Phrasing
from obelics_pipeline.models.wording_detector.vocabulary import Tokens

PLAIN = "In the morning they went to the harbour with the boat of the old man. He waited at the door for a letter. " * 4
WRONG = "At the morning they went of the harbour for the boat in the old man. He waited with the door to a letter. " * 4


@cache
def english() -> English:
    return count_english([PLAIN * 20], 100, 60)


@cache
def phrasing() -> Phrasing:
    return count_phrasing([PLAIN * 20], 100, 60)


def read(habits: Habits, text: str) -> Tokens:
    """Its tokens, whatever their number."""
    return habits.read(text)


def detector() -> WordingDetector:
    return _detector(english())


def phrasing_detector() -> WordingDetector:
    return _detector(phrasing())


def _detector(habits: Habits) -> WordingDetector:
    """One tree: another word of grammar would fit better in more than one of ten places, or not."""
    nodes = np.array([(0, 0.1, 1), (-1, 0, -SCALE), (-1, 0, SCALE)], NODE)
    return WordingDetector(habits, Forest(("better_choice_over_1",), nodes, np.array([0], np.int32)), {})
