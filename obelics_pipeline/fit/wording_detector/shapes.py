"""Which shapes of words stand together, counted in trusted texts."""

from __future__ import annotations

from collections import Counter

import numpy as np

from obelics_pipeline.fit.wording_detector.counting import Counted, log_ratios
from obelics_pipeline.models.wording_detector.shapes import APART, LONGEST_ENDING, Shapes
from obelics_pipeline.models.wording_detector.vocabulary import FIRST

SHAPED = 150  # words that are a shape of their own, as many as carry grammar
ENDINGS = (60, 80)  # of three and of two letters, the most frequent; and all of one letter
_PRIOR = 2.0  # times that two shapes are taken to have been seen as chance has it


def count_shapes(counted: Counted) -> Shapes:
    """How much more often shapes stand so far apart than they would at random."""
    shaped = min(SHAPED + FIRST, len(counted.vocabulary))
    endings = _endings(counted)
    size = shaped + 2 * len(endings)
    counts = np.zeros((len(APART), size, size))
    unknown = Shapes(shaped, endings, counts.astype(np.int8))
    for part in counted.parts:
        shape = unknown.read(part)
        for table, apart in zip(counts, APART, strict=True):
            table += np.bincount(shape[:-apart] * size + shape[apart:], minlength=size * size).reshape(size, size)
    left, right = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    chance = left * right / np.maximum(1, counts.sum(axis=(1, 2), keepdims=True))
    return Shapes(shaped, endings, log_ratios((counts + _PRIOR) / (chance + _PRIOR)))


def _endings(counted: Counted) -> tuple[str, ...]:
    """The most frequent endings of words that are no shape of their own, the longest first."""
    own = set(counted.vocabulary.words[:SHAPED])
    count = Counter(token for part in counted.parts for token in part.lower)
    found: list[Counter[str]] = [Counter() for _ in range(LONGEST_ENDING)]
    for word, times in count.items():
        if word[0].isalpha() and word not in own:
            for length in range(1, LONGEST_ENDING + 1):
                if len(word) > length + (length > 1):
                    found[length - 1][word[-length:]] += times
    most = (len(found[0]), *reversed(ENDINGS))
    kept = [sorted(sorted(of), key=of.__getitem__, reverse=True)[:n] for of, n in zip(found, most, strict=True)]
    return tuple(ending for endings in reversed(kept) for ending in endings)
