"""What makes the detectors of words that a program chose: `obelics fit wording-detector` and `phrasing-detector`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from obelics_pipeline.fit.farm_detector.head import NO_FOREST, Recipe
from obelics_pipeline.fit.farm_detector.judging import Growth
from obelics_pipeline.fit.wording_detector.farms import Farms
from obelics_pipeline.fit.wording_detector.habits import count_english, count_phrasing
from obelics_pipeline.models.wording_detector.detector import WordingDetector
from obelics_pipeline.models.wording_detector.habits import Habits

_GROWTH = {"learning_rate": 0.05, "lambda_l2": 10, "min_data_in_leaf": 60}


def _with(
    count: Callable[[Sequence[str], int, int], Habits], words: int, paired: int
) -> Callable[[Sequence[str]], WordingDetector]:
    """What makes a detector of texts: of so many known words, and the pairs of so many."""
    return lambda texts: WordingDetector(count(texts, words, paired), NO_FOREST, {})


WORDING = Recipe(
    _with(count_english, 3000, 2000),  # tables of half a megabyte
    # With families that exchange words for synonyms too, less was found of families that were left out.
    ("translating", "words_out_of_order", "glossing"),
    Growth(200, _GROWTH | {"num_leaves": 7}),
)
PHRASING = Recipe(
    _with(count_phrasing, 4000, 2500),  # tables of a megabyte
    (
        *("translating", "glossing", "words_out_of_order", "wrong_words", "spinning"),
        *("chains", "splicing", "mixed_sentences", "templates"),
    ),
    Growth(300, _GROWTH | {"num_leaves": 15}),
    with_own=Farms,
)
