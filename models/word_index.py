"""Words and their numbers, as the compiled part looks them up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    from obelics_pipeline.models import _word_index as compiled
except ImportError:
    COMPILED = False
else:
    COMPILED = True


class Index(NamedTuple):
    """The first word has the number 1, and so on.

    `characters`: code points of all words, one after the other. `begins`: where each word begins, and where the last
    one ends. `slots`: at a place that a word's hash tells, or after it, its number; 0 where no word is.
    """

    characters: NDArray[np.uint32]
    begins: NDArray[np.int64]
    slots: NDArray[np.int32]

    @classmethod
    def of(cls, words: Sequence[str]) -> Index:
        """That of words. Of a word that is there twice, the later number counts."""
        characters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
        begins = np.cumsum([0, *map(len, words)], dtype=np.int64)
        slots = np.zeros(1 << (2 * len(words) + 2).bit_length(), np.int32)
        compiled.fill(characters, begins, slots)
        return cls(characters, begins, slots)
