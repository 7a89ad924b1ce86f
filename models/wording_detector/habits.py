"""Which words people put next to each other: counts of trusted texts, in tables that are looked up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.wording_detector.vocabulary import FIRST, Tokens, Vocabulary, Whole
from obelics_pipeline.models.wording_detector.wrong import Wrong

AROUND = ((-2, 1), (-1, 2), (1, 2), (2, 1))  # places around a choice that tell it, and how much each counts
SETS = 6  # of words that stand for each other
UNIT = 16  # of logarithms, in whole numbers
GRAMMAR = 152  # numbers of words below carry grammar, not meaning


@dataclass(frozen=True)
class Habits(ABC):
    """Words by frequency, which of the most frequent were seen in a pair, and what chooses words of grammar.

    A choice is a word of grammar with others that may stand in its place, as prepositions are for each other.

    `often`: log counts of words, in 1 / `UNIT`, shape (numbers,). `pairs`: a bit for each pair of the `paired` first
    numbers, a row for the left one. `choices`: what a word at a place of `AROUND` says for each choice, as a log ratio
    in 1 / `UNIT`, shape (places, numbers, choices). `prior`: log counts of the choices.
    """

    vocabulary: Vocabulary
    often: NDArray[np.int16]
    total: int  # log of the sum of counts
    pairs: NDArray[np.uint8]
    paired: int
    choices: NDArray[np.int8]
    prior: NDArray[np.int16]

    def __post_init__(self) -> None:
        """Raises ValueError for tables of other shapes: files of others are not trusted."""
        known, choices = len(self.vocabulary), len(self.choice_words)
        if self.often.shape != (known,):
            raise ValueError(f"often: shape {self.often.shape} for {known} words")
        if self.choices.shape != (len(AROUND), known, choices) or self.prior.shape != (choices,):
            raise ValueError(f"choices: shape {self.choices.shape} for {known} words, {choices} of them chosen")
        if not FIRST < self.paired <= known or self.pairs.shape != (self.paired, -(-self.paired // 8)):
            raise ValueError(f"pairs: shape {self.pairs.shape} for {self.paired} words")

    @staticmethod
    @abstractmethod
    def tokens_of(form: str) -> Sequence[str]:
        """Words, numbers and marks of a text in the form that is judged."""

    @abstractmethod
    def read(self, form: str) -> Tokens:
        """The same, with what is known of each."""

    @abstractmethod
    def evidence(self, tokens: Tokens) -> dict[str, float]:
        """What they say of a text: numbers by name, for the forest that decides; of every text the same ones."""

    @abstractmethod
    def wrong(self, tokens: Tokens) -> Iterator[Wrong]:
        """Words of a text that people hardly write so, in any order."""

    @property
    @abstractmethod
    def choice_words(self) -> tuple[str, ...]:
        """The choices."""

    @property
    @abstractmethod
    def set_of(self) -> NDArray[np.integer]:
        """Of each choice, which of `SETS` it is in: those of one set stand for each other."""

    @cached_property
    def choice_of(self) -> Whole:
        """Of each word's number, which choice it is, or -1."""
        return self.vocabulary.places_among(self.choice_words)

    @cached_property
    def sets_of_choices(self) -> NDArray[np.int8]:
        """`set_of`, as the compiled part takes it."""
        return np.ascontiguousarray(self.set_of, np.int8)

    @cached_property
    def seen(self) -> NDArray[np.uint8]:
        """1 for each pair that trusted texts have, shape (paired, paired)."""
        return np.unpackbits(self.pairs, axis=1, count=self.paired)

    @property
    def described(self) -> dict[str, Any]:
        """What a file holds of them as JSON."""
        return {"words": self.vocabulary.words, "total": self.total, "paired": self.paired}

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What it holds of them as arrays."""
        return {"often": self.often, "pairs": self.pairs, "choices": self.choices, "prior": self.prior}

    @classmethod
    def of_file(cls, described: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Those of a file. Raises KeyError, TypeError and ValueError for others."""
        return cls(
            Vocabulary(tuple(map(str, described["words"]))),
            total=int(described["total"]),
            paired=int(described["paired"]),
            **{name: arrays[name] for name in ("often", "pairs", "choices", "prior")},
            **cls._more(arrays),
        )

    @staticmethod
    def _more(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """What habits of a kind have beside."""
        return {}
