"""Subjects of words, and whether a text keeps to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.wording_detector.shares import COMPILED, FEWEST, MISSING, Numbers, compiled
from obelics_pipeline.models.wording_detector.vocabulary import Flags, Tokens

_STEP = 128  # words, by which tables of places are made larger
_NEAR, _FAR = 8, 40  # words of meaning between two that are near, and far from each other
_BANDS = ("near", "middle", "far")

_Nearness = tuple[int, int, int]


def of_subjects(subject: NDArray[np.int8], tokens: Tokens) -> Numbers:
    """Whether words that stand near each other are of one subject, and whether words far apart are.

    `subject`: a direction of each number, the same for words of one subject, zero for words of grammar.
    """
    found = nearness_compiled(subject, tokens) if COMPILED else nearness_in_numpy(subject, tokens)
    nearness = {}
    for name, (alike, count, every) in zip(_BANDS, found, strict=True):
        nearness[name] = alike / count if count >= FEWEST else MISSING
        yield f"one_subject_{name}", nearness[name]
        yield f"same_word_{name}", (every - count) / every if every >= FEWEST else MISSING
    for name in ("middle", "far"):
        yield f"subject_lost_{name}", nearness["near"] - nearness[name] if MISSING not in nearness.values() else MISSING


def nearness_compiled(subject: NDArray[np.int8], tokens: Tokens) -> Sequence[_Nearness]:
    """What these numbers are made of, by the compiled part, where `COMPILED`."""
    return compiled.subjects(tokens.number, np.ascontiguousarray(subject), subject.shape[1])


def nearness_in_numpy(subject: NDArray[np.int8], tokens: Tokens) -> Sequence[_Nearness]:
    """The same, by NumPy: what both must return.

    Of the pairs of words that stand near each other, further apart, and far apart: the sum of the products of their
    directions, of how many pairs of different words, and of how many pairs there are.
    """
    words = tokens.number[subject[tokens.number].any(axis=1)]
    size = len(words)
    direction = subject[words].astype(np.float32)  # products of whole numbers below 2**24 are exact
    like, other = direction @ direction.T, words[None, :] != words[:, None]
    found = []
    for band in _bands(-(-size // _STEP) * _STEP):
        there = band[:size, :size]
        two = there & other
        alike = int(like.sum(where=two, dtype=np.int64))
        found.append((alike, int(np.count_nonzero(two)), int(np.count_nonzero(there))))
    return found


@cache
def _bands(size: int) -> Sequence[Flags]:
    """Which of so many words stand near each other, further apart, and far apart: the later one's row first."""
    away = np.arange(size)[None, :] - np.arange(size)[:, None]
    return (away > 0) & (away <= _NEAR), (away > _NEAR) & (away <= _FAR), away > _FAR
