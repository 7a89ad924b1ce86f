"""Which words people put next to each other: counts of trusted texts, in tables that are looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Words of grammar that stand for each other: who translates word by word, or at random, takes the wrong one.
SETS = (
    "of in at by to for from on with about into as",
    "the a an one this that some",
    "is are was were be been am",
    "i you he she it we they",
    "my your his her its our their",
    "and but or so because",
)
CHOICES = tuple(word for words in SETS for word in words.split())
SET_OF = np.array([number for number, words in enumerate(SETS) for _ in words.split()])
AROUND = ((-2, 1), (-1, 2), (1, 2), (2, 1))  # places around a choice that tell it, and how much each counts
UNIT = 16  # of logarithms, in whole numbers
UNKNOWN, NUMBER = 0, 1  # numbers of words that have none, and of all numbers
_FIRST = 2  # number of the most frequent word

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Habits:
    """Words by frequency, which of the most frequent were seen in a pair, and what chooses words of grammar.

    `often`: log counts of words, in 1 / `UNIT`, shape (words + 2,). `pairs`: a bit for each pair of the `paired` first
    numbers, a row for the left one. `choices`: what a word at a place of `AROUND` says for each of `CHOICES`, as a log
    ratio in 1 / `UNIT`, shape (places, words + 2, choices). `prior`: log counts of the choices.
    """

    words: tuple[str, ...]
    often: NDArray[np.int16]
    total: int  # log of the sum of counts
    pairs: NDArray[np.uint8]
    paired: int
    choices: NDArray[np.int8]
    prior: NDArray[np.int16]

    def __post_init__(self) -> None:
        """Raises ValueError for tables of other shapes: files of others are not trusted."""
        known, ways = len(self.words) + _FIRST, (len(AROUND), len(self.words) + _FIRST, len(CHOICES))
        if self.often.shape != (known,) or self.choices.shape != ways or self.prior.shape != (len(CHOICES),):
            raise ValueError(f"tables of {self.often.shape}, {self.choices.shape} for {known} words")
        if not _FIRST < self.paired <= known or self.pairs.shape != (self.paired, -(-self.paired // 8)):
            raise ValueError(f"pairs: shape {self.pairs.shape} for {self.paired} words")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, _FIRST)}

    @cached_property
    def choice_of(self) -> Whole:
        """Of each word's number, which of `CHOICES` it is, or -1."""
        found = np.full(len(self.words) + _FIRST, -1)
        for place, word in enumerate(CHOICES):
            if word in self._numbers:
                found[self._numbers[word]] = place
        return found

    @cached_property
    def seen(self) -> NDArray[np.uint8]:
        """1 for each pair that trusted texts have, shape (paired, paired)."""
        return np.unpackbits(self.pairs, axis=1, count=self.paired)

    def read(self, tokens: Sequence[str]) -> Whole:
        """The number of each token, in lower case."""
        numbers = self._numbers
        return np.array([NUMBER if token[0].isdigit() else numbers.get(token, UNKNOWN) for token in tokens], np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file holds of it, beside the words."""
        return {name: getattr(self, name) for name in ("often", "pairs", "choices", "prior")}

    @classmethod
    def of_arrays(cls, stored: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Habits:
        """That of a file. Raises KeyError, TypeError and ValueError for others."""
        tables = {name: arrays[name] for name in ("often", "pairs", "choices", "prior")}
        words = tuple(map(str, stored["words"]))
        return cls(words, total=int(stored["total"]), paired=int(stored["paired"]), **tables)
