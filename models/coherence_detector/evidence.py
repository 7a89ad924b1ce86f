"""How the sentences of a text follow each other: numbers by name, for the forest that decides.

Each compares a text with itself: its sentences as they stand with the same sentences in any order.
"""

from __future__ import annotations

from obelics_pipeline.models.coherence_detector.comparison import compare
from obelics_pipeline.models.coherence_detector.order import of_order, of_subjects
from obelics_pipeline.models.coherence_detector.reading import FEWEST, Reading, read
from obelics_pipeline.models.coherence_detector.repetition import of_form, of_phrases, of_repetition
from obelics_pipeline.models.coherence_detector.vectors import Vectors


def evidence(vectors: Vectors, found: Reading) -> dict[str, float]:
    """All numbers of a text, in which the vectors were looked up."""
    compared = compare(vectors, found.traits)
    return dict(
        [
            *of_order(compared),
            *of_subjects(compared),
            *of_repetition(found.counts),
            *of_phrases(found.counts),
            *of_form(found.counts),
        ]
    )


def names(vectors: Vectors) -> set[str]:
    """Those of all numbers."""
    found = read("A.\n" * FEWEST, vectors)
    return set() if found is None else set(evidence(vectors, found))
