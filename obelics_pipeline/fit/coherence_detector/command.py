"""Fitting the detector of sentences that do not belong together: `obelics fit coherence-detector`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from obelics_pipeline.fit.coherence_detector.fit_vectors import fit_vectors
from obelics_pipeline.fit.farm_detector.head import NO_FOREST, Recipe, fit_head
from obelics_pipeline.fit.farm_detector.judging import Growth
from obelics_pipeline.fit.farm_detector.sources import Sources
from obelics_pipeline.fit.say import Say
from obelics_pipeline.models.coherence_detector.detector import CoherenceDetector

# All that leave sentences or phrases of people whole, or repeat them: what is wrong is how they follow each other.
LEARNED = (
    "splicing",
    "mixed_sentences",
    "sentences_out_of_order",
    "templates",
    "boilerplate",
    "stitching",
    "snippets",
    "jumbling",
    "by_rule",
    "slots",
    "furniture",
)
TRAITS, SIZE = 8000, 32  # tables of three quarters of a megabyte; with 16,000 no more was found
GROWTH = Growth(300, {"num_leaves": 15, "learning_rate": 0.05, "lambda_l2": 10})


def fit_coherence_detector(sources: Sources, output: Path, documents: int, say: Say) -> None:
    """Learn vectors of some of the texts, fit a forest on documents made of the others, as `fit_head` does."""

    def bare(texts: Sequence[str]) -> CoherenceDetector:
        return CoherenceDetector(fit_vectors(texts, TRAITS, SIZE, say), NO_FOREST, {})

    fit_head(Recipe(bare, LEARNED, GROWTH), sources, output, documents, say)
