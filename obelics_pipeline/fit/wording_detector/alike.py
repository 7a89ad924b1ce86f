"""Words that stand for each other, as prepositions do: sets of them, learned from what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.wording_detector.habits import SETS

_NEIGHBOURS = 1000  # numbers of words that tell, the most frequent
_SMALLEST = 3  # words of a set


def sets_of(rows: Sequence[NDArray[np.int64]], chosen: Sequence[int], known: int) -> NDArray[np.int8]:
    """Of each chosen word its set, from 0 to `SETS` - 1, or -1 of one that is like no other. Shape (chosen,).

    Words whose neighbours are most alike are joined first (average linkage). Of all steps, that one is taken which has
    the most sets of `_SMALLEST` words or more, up to `SETS`, and of such the one with most words in them.
    """
    alike = _alike(rows, chosen, known)
    members = [[word] for word in range(len(chosen))]
    best: list[list[int]] = []
    while len(members) > 1:
        likeness = [
            (float(alike[np.ix_(one, other)].mean()), -first, -second)
            for first, one in enumerate(members)
            for second, other in enumerate(members[:first])
        ]
        _, first, second = max(likeness)
        members[-second] += members.pop(-first)
        sets = sorted((sorted(one) for one in members if len(one) >= _SMALLEST), key=lambda one: (-len(one), one))
        largest = sets[:SETS]
        if largest and _even(largest, len(chosen)) and _worth(largest) >= _worth(best):
            best = largest
    found = np.full(len(chosen), -1, np.int8)
    for number, words in enumerate(best):
        found[words] = number
    return found


def _worth(sets: Sequence[Sequence[int]]) -> tuple[int, int]:
    return len(sets), sum(map(len, sets))


def _even(sets: Sequence[Sequence[int]], words: int) -> bool:
    """Whether no set has swallowed the others."""
    return len(sets[0]) <= max(_SMALLEST, words // 3)


def _alike(rows: Sequence[NDArray[np.int64]], chosen: Sequence[int], known: int) -> NDArray[np.float64]:
    """How alike the neighbours of each two words are, from 0 to 1."""
    size = min(_NEIGHBOURS, known)
    place = np.full(known, -1)
    place[list(chosen)] = np.arange(len(chosen))
    counts = np.zeros((2, len(chosen), size))
    for row in rows:
        for table, (word, beside) in zip(counts, ((row[1:], row[:-1]), (row[:-1], row[1:])), strict=True):
            there = (place[word] >= 0) & (beside < size)
            np.add.at(table, (place[word[there]], beside[there]), 1)
    shares = np.sqrt(counts / np.maximum(1, counts.sum(axis=2, keepdims=True)))  # Bhattacharyya's coefficient
    return np.asarray((shares[0] @ shares[0].T) * (shares[1] @ shares[1].T))
