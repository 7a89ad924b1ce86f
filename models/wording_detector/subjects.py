"""Subjects of words, and whether a text keeps to one."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.wording_detector.shares import FEWEST, MISSING, Numbers
from obelics_pipeline.models.wording_detector.vocabulary import Flags, Tokens

_STEP = 128  # words, by which tables of places are made larger
_NEAR, _FAR = 8, 40  # words of meaning between two that are near, and far from each other


def of_subjects(subject: NDArray[np.int8], tokens: Tokens) -> Numbers:
    """Whether words that stand near each other are of one subject, and whether words far apart are.

    `subject`: a direction of each number, the same for words of one subject, zero for words of grammar.
    """
    words = tokens.number[subject[tokens.number].any(axis=1)]
    size = len(words)
    direction = subject[words].astype(np.float32)  # products of whole numbers below 2**24 are exact
    like, other = direction @ direction.T, words[None, :] != words[:, None]
    nearness = {}
    for name, band in _bands(-(-size // _STEP) * _STEP).items():
        there = band[:size, :size]
        two = there & other
        count, every = int(np.count_nonzero(two)), int(np.count_nonzero(there))
        nearness[name] = int(like.sum(where=two, dtype=np.int64)) / count if count >= FEWEST else MISSING
        yield f"one_subject_{name}", nearness[name]
        yield f"same_word_{name}", (every - count) / every if every >= FEWEST else MISSING
    for name in ("middle", "far"):
        yield f"subject_lost_{name}", nearness["near"] - nearness[name] if MISSING not in nearness.values() else MISSING


@cache
def _bands(size: int) -> dict[str, Flags]:
    """Which of so many words stand near each other, further apart, and far apart: the later one's row first."""
    away = np.arange(size)[None, :] - np.arange(size)[:, None]
    return {"near": (away > 0) & (away <= _NEAR), "middle": (away > _NEAR) & (away <= _FAR), "far": away > _FAR}
