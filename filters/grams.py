"""Where a sequence has n-grams that occur more than once: the places of what the statistics of repetition count."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.filters.pure import code_points, numbered

Numbers = NDArray[np.int64]

_LARGEST = 2**31  # numbers below it make pairs that fit into 63 bits


def repeated_words(words: Sequence[str], n: int) -> list[tuple[int, int]]:
    """Runs of words, as (first, one after the last), of n-grams that occur more than once, as often as they do."""
    return _runs(_grams(numbered(words), n), n, most_frequent_only=False)


def repeated_characters(text: str, n: int) -> list[tuple[int, int]]:
    """Runs of characters of the n-grams that `character_repetition` counts; of equally frequent ones, the first met."""
    return _runs(_grams(code_points(text), n), n, most_frequent_only=True)


def _grams(units: NDArray[np.uint32], n: int) -> Numbers:
    """The n-gram at each place as a number, equal for equal ones; empty for fewer than n units.

    An n-gram is a pair of shorter ones, which may overlap: exact, in as many steps as n has binary digits.
    """
    if len(units) < n:
        return np.empty(0, np.int64)
    numbers, length = _ranked(units), 1
    bound = len(units)
    while length < n:
        if bound > _LARGEST:
            numbers = _ranked(numbers)
        bound = int(numbers.max()) + 1
        step = min(length, n - length)
        numbers = numbers[:-step] * bound + numbers[step:]
        bound, length = bound * bound, length + step
    return numbers


def _ranked(values: NDArray[np.generic]) -> Numbers:
    """Equal values as equal numbers, none higher than there are values."""
    ranks: Numbers = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return ranks


def _runs(grams: Numbers, n: int, most_frequent_only: bool) -> list[tuple[int, int]]:
    """The runs of units within the n-grams that are counted."""
    if not len(grams):
        return []
    _, first, which, count = np.unique(grams, return_index=True, return_inverse=True, return_counts=True)
    counted = count > 1
    if most_frequent_only:
        frequent = np.zeros(len(count), bool)
        frequent[np.lexsort((first, -count))[: isqrt(len(count))]] = True
        counted &= frequent
    begins = counted[which]
    change = np.zeros(len(grams) + n, np.int64)  # of how many counted n-grams a unit is in, from that before it
    change[: len(grams)] += begins
    change[n:] -= begins
    inside = change.cumsum() > 0  # the last is beyond the units: no n-gram has it
    edges = np.flatnonzero(np.diff(inside, prepend=False))
    return [(begin, end) for begin, end in edges.reshape(-1, 2).tolist()]
