"""Signatures of texts: keys that near-duplicates share, and a sketch by which their similarity is estimated.

MinHash (Broder, 1997) over runs of words. Two texts have the same minimum under a hash function with the probability of
their Jaccard similarity s. A band's key stands for the minima of `rows` functions, so that two texts share one of
`bands` keys with 1 - (1 - s^rows)^bands; the sketch keeps one bit of the minimum of every function. Figures, and what
the defaults of the config are based on: docs/deduplication.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.minhash import characters
from obelics_pipeline.core.minhash.minhash_pure import mixed

sign_text: Callable[..., int]
try:
    from obelics_pipeline.core.minhash._minhash import sign as sign_text

    COMPILED = True
except ImportError:
    from obelics_pipeline.core.minhash.minhash_pure import sign as sign_text

    COMPILED = False


class Signatures(NamedTuple):
    """A row per text. A text without a word has a signature too, that of nothing."""

    band_keys: npt.NDArray[np.uint64]  # (texts, bands)
    sketches: npt.NDArray[np.uint8]  # (texts, permutations / 8)
    words: npt.NDArray[np.int64]  # (texts,): what the shingles are made of; a character in scripts without spaces


class Signer:
    """Makes signatures: the same ones for the same texts and settings, on every machine."""

    def __init__(self, shingle_words: int, permutations: int, bands: int, rows: int) -> None:
        """Raises ValueError for settings that do not fit together."""
        if min(shingle_words, permutations, bands, rows) < 1 or permutations % 8 or bands * rows > permutations:
            raise ValueError(
                f"{shingle_words} words, {permutations} permutations, {bands} bands, {rows} rows: each must be 1 or "
                "more, permutations a multiple of 8 and at least bands x rows"
            )
        self._shingle_words, self._bands, self._rows = shingle_words, bands, rows
        drawn = np.array([mixed(i) for i in range(permutations)], np.uint64)
        self._factors = (drawn >> np.uint64(32)).astype(np.uint32) | np.uint32(1)  # odd: one-to-one modulo 2^32
        self._summands = drawn.astype(np.uint32)

    def sign(self, texts: Sequence[str]) -> Signatures:
        """The signatures of texts."""
        keys = np.empty((len(texts), self._bands), np.uint64)
        sketches = np.empty((len(texts), self._factors.size // 8), np.uint8)
        words = np.empty(len(texts), np.int64)
        table = characters.table()
        for i, text in enumerate(texts):
            words[i] = sign_text(
                text, table, self._factors, self._summands, self._shingle_words, self._rows, keys[i], sketches[i]
            )
        return Signatures(keys, sketches, words)
