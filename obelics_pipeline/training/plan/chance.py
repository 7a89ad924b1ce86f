"""Random numbers that depend on what they are for, and on nothing else: no library's version, machine or process.

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): a
number is computed from its place, so that arrays are drawn at once. NumPy's own streams may change with its version.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed(words: Words) -> Words:
    """Each word well mixed (the finaliser of SplitMix64): words that differ in a bit have nothing in common."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def key(seed: int, *purpose: str | int) -> np.uint64:
    """The number from which all draws for a purpose come."""
    text = "\n".join(str(part) for part in (seed, *purpose))
    return np.uint64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))


def words(n: int, start: np.uint64, first: int = 0) -> Words:
    """`n` random words from a key; `first` goes on where earlier ones ended."""
    with np.errstate(over="ignore"):
        places = np.arange(first + 1, first + n + 1, dtype=np.uint64)
        return mixed(start + places * _GOLDEN)


def permutation(n: int, start: np.uint64) -> Integers:
    """The numbers 0 to n - 1 in random order."""
    return np.argsort(words(n, start), kind="stable").astype(np.int64)


def draws(contents: Words, start: np.uint64) -> npt.NDArray[np.float64]:
    """Numbers from 0 to below 1 that belong to contents: equal contents draw equally under a key."""
    with np.errstate(over="ignore"):
        return (mixed(mixed(contents + start) + _GOLDEN) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def far_from(before: Integers, blocks: Integers, gap: int, start: np.uint64) -> Integers:
    """A random order of the same items in which none comes less than `gap` places after it came in the order before.

    `before` holds the items 0 to n - 1 in the order of the last pass; `blocks` are where its blocks begin, with n
    behind the last: an item stays in its block. `gap` at most n / 2. Returns the items in the order of the next pass.
    """
    n = len(before)
    out = np.full(n, -1, np.int64)
    drawn = 0
    for low, high in zip(blocks[:-1].tolist(), blocks[1:].tolist(), strict=True):
        floor = np.maximum(np.arange(low, high, dtype=np.int64) - (n - gap), low)  # where it may stand, at the least
        bound = np.flatnonzero(floor > low) + low
        while len(bound):
            room = (high - floor[bound - low]).astype(np.uint64)
            at = floor[bound - low] + (words(len(bound), start, drawn) % room).astype(np.int64)
            drawn += len(bound)
            free = out[at] < 0
            _, first = np.unique(at[free], return_index=True)
            settled = np.flatnonzero(free)[first]
            out[at[settled]] = before[bound[settled]]
            bound = np.delete(bound, settled)
        rest = before[low:high][floor == low]
        order = np.argsort(words(len(rest), start, drawn), kind="stable")
        drawn += len(rest)
        places = np.flatnonzero(out[low:high] < 0) + low
        out[places] = rest[order]
    return out
