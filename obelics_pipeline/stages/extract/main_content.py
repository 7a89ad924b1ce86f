"""Which texts of a page are its main content, and how sure that is."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline import models
from obelics_pipeline.models.forest import SCALE, Forest
from obelics_pipeline.stages.extract.main_features import NAMES, main_features
from obelics_pipeline.stages.extract.tree import CHARS, SimplifiedTree

MODEL = Path(models.__file__).parent / "main_content.json"

# Chosen with domains left out on the pages that the model was fitted on (docs/extraction.md).
MIN_PROBABILITY = 0.55  # of a text that is kept
MIN_CONFIDENCE = 0.8  # below it the page is kept whole: what the model would drop is as likely content


@dataclass(frozen=True, slots=True)
class MainContent:
    """`kept` has one flag a row of the tree, True at the texts of the main content; `confidence` is in 0 … 1.

    The confidence is the mean probability of the kept texts, by characters: 0 if no text is kept.
    """

    kept: NDArray[np.bool_]
    confidence: float


def find_main_content(tree: SimplifiedTree) -> MainContent:
    """Judge every text of a page outside its frame. A page without such a text has no main content."""
    texts, features = main_features(tree)
    kept = np.zeros(len(tree.rows), np.bool_)
    if not len(texts):
        return MainContent(kept, 0.0)
    content, confidence = decide(_forest().log_odds(features), tree.rows[texts, CHARS])
    kept[texts[content]] = True
    return MainContent(kept, confidence)


def probabilities(tree: SimplifiedTree) -> NDArray[np.float64]:
    """The probability of each row of a tree to be main content, for people to look at.

    NaN at rows without a prediction: elements, images, and texts of the page's frame.
    """
    texts, features = main_features(tree)
    found = np.full(len(tree.rows), np.nan)
    if len(texts):
        found[texts] = _probability(_forest().log_odds(features))
    return found


def decide(log_odds: NDArray[np.int64], characters: NDArray[np.int32]) -> tuple[NDArray[np.bool_], float]:
    """Which texts of a page are kept, by their log odds in 1 / SCALE, and the confidence (see `MainContent`)."""
    content = log_odds > _MIN_LOG_ODDS
    return content, _confidence(log_odds[content], characters[content])


_MIN_LOG_ODDS = round(SCALE * float(np.log(MIN_PROBABILITY / (1 - MIN_PROBABILITY))))


def _confidence(log_odds: NDArray[np.int64], characters: NDArray[np.int32]) -> float:
    """Rounded, so that no difference between two machines' exponentials is seen."""
    if not len(log_odds):
        return 0.0
    return round(float((_probability(log_odds) * characters).sum() / max(1, characters.sum())), 3)


def _probability(log_odds: NDArray[np.int64]) -> NDArray[np.float64]:
    probability: NDArray[np.float64] = 1 / (1 + np.exp(-log_odds / SCALE))
    return probability


@functools.cache
def _forest() -> Forest:
    forest = Forest.load(MODEL)
    if forest.features != NAMES:
        raise ValueError(f"{MODEL}: made for other features than this version computes")
    return forest
