"""Which words, and pairs of words that follow each other, a text uses: a weight for each, in whole numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import isqrt
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.chat_detector.form import tokens_of
from obelics_pipeline.models.forest import SCALE

try:
    from obelics_pipeline.models.chat_detector import _word_habits as compiled
except ImportError:
    COMPILED = False
else:
    COMPILED = True

SLOTS = 1 << 16  # words and pairs share them, by their check sums
LIMIT = 127  # of a weight
_TELLING = 4  # letters of a word that is named as a reason
_ONE = 256  # what stands for 1 in a square root


def slots_of(tokens: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Slots of a text's words and pairs, ascending, and how much of each: roots of counts, in 1 / 256."""
    encoded = [token.encode("utf-8", "replace") for token in tokens]
    alone = [crc32(token) for token in encoded]
    pairs = map(crc32, [b" " + token for token in encoded[1:]], alone)  # that of a pair goes on from its first word
    slots, counts = np.unique(np.array([*alone, *pairs], np.int64) % SLOTS, return_counts=True)
    return slots, np.sqrt(counts * (_ONE * _ONE)).astype(np.int64)


class Reading(NamedTuple):
    """A text in the form that is judged, as the weights read it."""

    total: int  # the sum of weights times roots of counts, as `slots_of` has them
    tokens: int
    words: int

    def log_odds(self, unit: int) -> int:
        """What the weights say of it, in 1 / `SCALE`; `unit` is the weight of 1."""
        return self.total * SCALE // (length_of(self.tokens) * unit)


def read(weights: NDArray[np.int8], form: str) -> Reading:
    """That of a text."""
    return Reading(*compiled.read(weights, form)) if COMPILED else read_in_numpy(weights, form)


def read_in_numpy(weights: NDArray[np.int8], form: str) -> Reading:
    """The same, by NumPy: what both must return."""
    tokens = tokens_of(form)
    slots, roots = slots_of(list(map(str.lower, tokens)))
    total = int((weights[slots].astype(np.int64) * roots).sum())
    return Reading(total, len(tokens), sum(token[0].isalpha() for token in tokens))


def length_of(tokens: int) -> int:
    """The length of the vector that `slots_of` gives of so many tokens, in the same unit; at least 1."""
    return max(1, _root(max(0, 2 * tokens - 1)))


def heaviest(weights: NDArray[np.int8], tokens: Sequence[str], most: int) -> list[str]:
    """The words and pairs of a text that speak most for a chat model, the heaviest first; at most `most`.

    Only those with a word of `_TELLING` letters are named: shorter words carry grammar, and any text has them.
    """
    counts = Counter(_words_and_pairs(tokens))
    telling = (one for one in counts if any(len(word) >= _TELLING and word.isalpha() for word in one.split()))
    weight = {one: int(weights[_slot(one)]) * _root(counts[one]) for one in telling}
    return sorted((one for one in weight if weight[one] > 0), key=lambda one: (-weight[one], one))[:most]


def _words_and_pairs(tokens: Sequence[str]) -> list[str]:
    return [*tokens, *(f"{first} {second}" for first, second in pairwise(tokens))]


def _slot(word_or_pair: str) -> int:
    return crc32(word_or_pair.encode("utf-8", "replace")) % SLOTS


def _root(count: int) -> int:
    return isqrt(count * _ONE * _ONE)
