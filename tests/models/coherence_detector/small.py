"""Vectors and a detector by hand."""

from itertools import pairwise

import numpy as np

from obelics_pipeline.models.coherence_detector.detector import CoherenceDetector
from obelics_pipeline.models.coherence_detector.vectors import Vectors
from obelics_pipeline.models.forest import NODE, SCALE, Forest

STATIONS = "harbour market church bridge castle school garden tower mill".split()
# Each sentence ends where the next one begins.
IN_ORDER = " ".join(f"From the {here} we walked to the {there}." for here, there in pairwise(STATIONS))
_SENTENCES = IN_ORDER.split(". ")
OUT_OF_ORDER = ". ".join(_SENTENCES[place].removesuffix(".") for place in (3, 0, 6, 2, 7, 4, 1, 5)) + "."


def vectors() -> Vectors:
    """A sentence is followed by one that has its stations; its subject is its stations."""
    size = len(STATIONS)
    own = np.concatenate([np.zeros((1, size)), np.eye(size)]).astype(np.int8) * 100
    return Vectors(tuple(STATIONS), own, own, own)


def detector() -> CoherenceDetector:
    """One tree: sentences follow better as they stand than in another order, or not."""
    nodes = np.array([(0, 1.0, 1), (-1, 0, SCALE), (-1, 0, -SCALE)], NODE)
    return CoherenceDetector(vectors(), Forest(("step_1_in_deviations",), nodes, np.array([0], np.int32)), {})
