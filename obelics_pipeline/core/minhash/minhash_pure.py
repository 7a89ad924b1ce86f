"""MinHash of one text, in Python; `_minhash.c` is the same, compiled. This file defines what both return."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.minhash.characters import ALONE, IDEOGRAPHS, KIND_SHIFT, SEPARATOR, SKIPPED, TABLE_SIZE, WORD

_MASK = 2**64 - 1
_CHARACTERS = 0x9E3779B97F4A7C15  # odd, and as good as random: of the polynomial over a word's characters
_WORDS = 0xD1B54A32D192ED03  # of that over a shingle's words
_AT_ONCE = 1024  # shingles times permutations in one NumPy expression: 2 MB at 512


def sign(
    text: str,
    characters: bytes,
    factors: npt.NDArray[np.uint32],
    summands: npt.NDArray[np.uint32],
    shingle_words: int,
    rows: int,
    keys: npt.NDArray[np.uint64],
    sketch: npt.NDArray[np.uint8],
) -> int:
    """Fill in the key of each band and the sketch of a text; returns its number of words.

    `characters` is the table of characters.py. Function i takes a shingle's hash x to factors[i] * x + summands[i],
    modulo 2^32, and the text to the smallest of these; band j is made of `rows` minima from j * rows on, bit i of the
    sketch, counted from the lowest of the first byte, is one of a hash of minimum i.
    """
    words = list(_words(text, memoryview(characters).cast("I")))
    hashes = np.array(_shingles(words, shingle_words), np.uint32)
    minima = np.full(factors.size, 2**32 - 1, np.uint32)
    for start in range(0, hashes.size, _AT_ONCE):
        part = hashes[start : start + _AT_ONCE, None]
        np.minimum(minima, (part * factors + summands).min(axis=0), out=minima)
    for band in range(keys.size):
        key = band + 1
        for minimum in minima[band * rows : (band + 1) * rows].tolist():
            key = mixed(key + minimum)
        keys[band] = key
    bits = np.array([mixed(minimum) >> 63 for minimum in minima[: sketch.size * 8].tolist()], np.uint8)
    sketch[:] = np.packbits(bits, bitorder="little")
    return len(words)


def mixed(value: int) -> int:
    """A permutation of the 64-bit numbers after which every bit depends on all (splitmix64: Steele et al., 2014)."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def _words(text: str, table: memoryview) -> Iterator[int]:
    """A hash of each word."""
    within = SEPARATOR  # the kind of what a word began with; SEPARATOR between words
    word = 0
    for character in map(ord, text):
        if character < TABLE_SIZE:
            entry = table[character]
        else:
            entry = (ALONE if character < IDEOGRAPHS else SKIPPED) << KIND_SHIFT | character
        kind = entry >> KIND_SHIFT
        if kind == SKIPPED:
            continue
        ends = kind in (SEPARATOR, ALONE) or (kind == WORD and within == ALONE)
        if ends and within != SEPARATOR:
            yield mixed(word)
            within, word = SEPARATOR, 0
        if kind == SEPARATOR:
            continue
        if within == SEPARATOR:
            within = kind
        word = (word * _CHARACTERS + (entry & 0xFFFFFF)) & _MASK
    if within != SEPARATOR:
        yield mixed(word)


def _shingles(words: list[int], length: int) -> list[int]:
    """A hash of each run of `length` words; of all words if there are fewer; no hashes if there are no words."""
    length = min(length, len(words))
    found = []
    for start in range(len(words) - length + 1 if words else 0):
        shingle = length
        for word in words[start : start + length]:
            shingle = (shingle * _WORDS + word) & _MASK
        found.append(mixed(shingle) >> 32)
    return found
