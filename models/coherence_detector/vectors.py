"""Vectors of sentences, in whole numbers: how well one follows another, and whether both speak of the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.word_index import Index

UNIT = 128  # the length of a vector: products of two are at most its square
UNKNOWN = 0  # number of a sentence's only trait where none of its own is known
FIRST = 1  # number of the most frequent trait
_TABLES = ("before", "after", "subject")

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Vectors:
    """A row for each trait, shape (traits + 1, size), in three tables; a sentence has the sum of its traits' rows.

    `before` is for a sentence that another follows, `after` for the one that follows, `subject` for what it is about.
    """

    traits: tuple[str, ...]
    before: NDArray[np.int8]
    after: NDArray[np.int8]
    subject: NDArray[np.int8]

    def __post_init__(self) -> None:
        """Raises ValueError for tables of other shapes: files of others are not trusted."""
        for name in _TABLES:
            table = getattr(self, name)
            if table.ndim != 2 or table.shape != (len(self.traits) + FIRST, self.before.shape[1]):
                raise ValueError(f"{name}: shape {table.shape} for {len(self.traits)} traits")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {trait: number for number, trait in enumerate(self.traits, FIRST)}

    @cached_property
    def index(self) -> Index:
        """The same, as the compiled part looks traits up."""
        return Index.of(self.traits)

    def read(self, rows: Sequence[Sequence[str]]) -> tuple[Whole, Whole]:
        """The numbers of the traits of all sentences, one after the other, and where each sentence begins."""
        return numbered(rows, self._numbers)

    def follow(self, read: tuple[Whole, Whole]) -> Whole:
        """How well sentence j follows sentence i, at [i, j]; shape (sentences, sentences)."""
        found: Whole = _units(self.before, *read) @ _units(self.after, *read).T
        return found

    def alike(self, read: tuple[Whole, Whole]) -> Whole:
        """How near the subjects of two sentences are; shape (sentences, sentences)."""
        units = _units(self.subject, *read)
        found: Whole = units @ units.T
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file holds of it, beside the traits."""
        return {f"vectors_{name}": getattr(self, name) for name in _TABLES}

    @classmethod
    def of_arrays(cls, traits: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> Vectors:
        """Those of a file. Raises KeyError, TypeError and ValueError for others."""
        return cls(tuple(map(str, traits)), *(arrays[f"vectors_{name}"] for name in _TABLES))


def numbered(rows: Sequence[Sequence[str]], numbers: Mapping[str, int]) -> tuple[Whole, Whole]:
    """As `Vectors.read`, by a given numbering; no sentence is empty."""
    found = [[numbers[trait] for trait in row if trait in numbers] or [UNKNOWN] for row in rows]
    begins = np.cumsum([0, *map(len, found)], dtype=np.int64)[:-1]
    return np.array(list(chain.from_iterable(found)), np.int64), begins


def _units(table: NDArray[np.int8], traits: Whole, begins: Whole) -> Whole:
    """Sums of rows, each brought to the length `UNIT`. A square root is the same on every machine."""
    sums = np.add.reduceat(table[traits].astype(np.int64), begins, axis=0)
    lengths = np.maximum(1, np.sqrt((sums * sums).sum(axis=1)).astype(np.int64))
    found: Whole = sums * UNIT // lengths[:, None]
    return found
