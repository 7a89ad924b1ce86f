"""Habits counted in a few sentences, and a detector by hand."""

from functools import cache

import numpy as np

from obelics_pipeline.fit.wording_detector.counting import count_habits
from obelics_pipeline.models.forest import NODE, SCALE, Forest
from obelics_pipeline.models.wording_detector.detector import WordingDetector
from obelics_pipeline.models.wording_detector.habits import Habits

PLAIN = "In the morning they went to the harbour with the boat of the old man. He waited at the door for a letter. " * 4
WRONG = "At the morning they went of the harbour for the boat in the old man. He waited with the door to a letter. " * 4


@cache
def habits() -> Habits:
    return count_habits([PLAIN * 20], 100, 60)


def detector() -> WordingDetector:
    """One tree: another word of grammar would fit better in more than one of ten places, or not."""
    nodes = np.array([(0, 0.1, 1), (-1, 0, -SCALE), (-1, 0, SCALE)], NODE)
    return WordingDetector(habits(), Forest(("better_choice_over_1",), nodes, np.array([0], np.int32)), {})
