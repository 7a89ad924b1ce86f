"""The words that are known, and the tokens of a text as their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.word_index import Index

UNKNOWN, NUMBER = 0, 1  # numbers of words that have none, and of all numbers
FIRST = 2  # number of the most frequent word

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Tokens:
    """Words, numbers and marks of a text, a value for each: where it stands, its number, and whether it is a word."""

    form: str
    begins: Whole  # in the form
    ends: Whole
    lowered: NDArray[np.uint32]  # code points of all tokens in lower case, one after the other
    lower_begins: Whole  # where each begins among these, and where the last one ends
    number: Whole
    own: Whole  # a number in this text, from 0 on, the same for those that are the same in lower case
    is_word: Flags
    is_mark: Flags  # neither a word nor a number
    as_written: Flags  # whether it is written as in lower case

    @cached_property
    def written(self) -> Sequence[str]:
        """Each as it is written."""
        return [self.form[begin:end] for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True)]

    @cached_property
    def lower(self) -> Sequence[str]:
        """Each in lower case."""
        characters = self.lowered.tobytes().decode("utf-32-le", "surrogatepass")
        return [characters[begin:end] for begin, end in pairwise(self.lower_begins.tolist())]

    @cached_property
    def mark(self) -> NDArray[np.uint32]:
        """The code point of each that is a single character in lower case; 0 of the others."""
        return np.where(np.diff(self.lower_begins) == 1, self.lowered[self.lower_begins[:-1]], 0)


@dataclass(frozen=True)
class Vocabulary:
    """Known words in lower case, the most frequent first: their numbers go up from `FIRST`."""

    words: tuple[str, ...]

    def __len__(self) -> int:
        """How many numbers there are."""
        return len(self.words) + FIRST

    @cached_property
    def numbers(self) -> dict[str, int]:
        """That of each word."""
        return {word: number for number, word in enumerate(self.words, FIRST)}

    @cached_property
    def index(self) -> Index:
        """The same, as the compiled part looks words up."""
        return Index.of(self.words)

    def places_among(self, words: Sequence[str]) -> Whole:
        """Of each number, where its word stands among these, or -1. Shape (numbers,)."""
        found = np.full(len(self), -1)
        for place, word in enumerate(words):
            if word in self.numbers:
                found[self.numbers[word]] = place
        return found
