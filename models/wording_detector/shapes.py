"""Shapes of words, and whether those that stand together agree, as a noun and its article do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.word_index import Index
from obelics_pipeline.models.wording_detector.habits import UNIT
from obelics_pipeline.models.wording_detector.shares import COMPILED, Numbers, Part, compiled, of_parts, sum_of
from obelics_pipeline.models.wording_detector.vocabulary import FIRST, UNKNOWN, Tokens, Whole
from obelics_pipeline.models.wording_detector.wrong import Wrong

APART = (1, 2)  # places between two shapes that are told whether they agree
LONGEST_ENDING = 3  # letters
_DISAGREE = (0, -UNIT, -2 * UNIT)  # log ratios of shapes that stand together more seldom than by chance

_NAMES = ("agree_1", "agree_2", "agree_three")
NAMES = (
    *(f"{name}{under}" for name in _NAMES for under in ("", *(f"_under_{-one // UNIT}" for one in _DISAGREE))),
    "only_neighbours_agree",
)


@dataclass(frozen=True)
class Shapes:
    """What trusted texts tell of shapes.

    A shape is one of the `shaped` first numbers of words, or one of the `endings`, written with a capital or without.
    `agree`: how much more often two shapes stand `APART` than they would at random, as a log ratio in 1 / `UNIT`, shape
    (distances, shapes, shapes).
    """

    shaped: int
    endings: tuple[str, ...]
    agree: NDArray[np.int8]

    def __post_init__(self) -> None:
        """Raises ValueError for a table of another shape: files of others are not trusted."""
        shapes = self.shaped + 2 * len(self.endings)
        if self.shaped <= FIRST or self.agree.shape != (len(APART), shapes, shapes):
            raise ValueError(f"agree: shape {self.agree.shape} for {self.shaped} words, {len(self.endings)} endings")

    @cached_property
    def _endings(self) -> dict[str, int]:
        return {ending: number for number, ending in enumerate(self.endings)}

    @cached_property
    def _index(self) -> Index:
        return Index.of(self.endings)

    def read(self, tokens: Tokens) -> Whole:
        """The shape of each token. `UNKNOWN` of other marks."""
        return self.read_compiled(tokens) if COMPILED else self.read_in_python(tokens)

    def read_compiled(self, tokens: Tokens) -> Whole:
        """The same, by the compiled part, where `COMPILED`."""
        known, where = self.shaped, (tokens.number, tokens.lowered, tokens.lower_begins, tokens.as_written)
        return np.frombuffer(compiled.shape(*where, self._index, known, LONGEST_ENDING), np.int64)

    def read_in_python(self, tokens: Tokens) -> Whole:
        """The same, by Python: what both must return."""
        number, lower = tokens.number, tokens.lower
        small = len(self.endings)
        found = np.where(number < self.shaped, number, UNKNOWN)
        for place in np.flatnonzero((number >= self.shaped) | (number == UNKNOWN)).tolist():
            ending = self._ending_of(lower[place])
            if ending >= 0:
                found[place] = self.shaped + ending + (0 if tokens.as_written[place] else small)
        return found

    def _ending_of(self, word: str) -> int:
        """The number of the longest ending that is known of a word, or -1."""
        if word[0].isalpha():
            for length in range(LONGEST_ENDING, 0, -1):
                found = self._endings.get(word[-length:], -1)
                if found >= 0:
                    return found
        return -1


def of_shapes(shapes: Shapes, tokens: Tokens) -> Numbers:
    """Whether shapes that stand one or two places apart agree."""
    shape = shapes.read(tokens)
    return of_parts(NAMES, parts_compiled(shapes, shape) if COMPILED else parts_in_numpy(shapes, shape))


def parts_compiled(shapes: Shapes, shape: Whole) -> Sequence[Part]:
    """What these numbers are made of, by the compiled part, where `COMPILED`."""
    return compiled.shapes(shape, shapes.agree, shapes.agree.shape[1])


def parts_in_numpy(shapes: Shapes, shape: Whole) -> Sequence[Part]:
    """The same, by NumPy: what both must return."""
    known = shape != UNKNOWN
    found, parts = [], list[Part]()
    for apart, table in zip(APART, shapes.agree, strict=True):
        both = known[:-apart] & known[apart:]
        agree = table[shape[:-apart], shape[apart:]].astype(np.int64)
        found.append(np.where(both, agree, 0))
        parts += _agreement(agree[both])
    near = found[0][:-1] + found[0][1:]
    three = known[:-2] & known[1:-1] & known[2:]
    parts += _agreement((near + found[1])[three])
    parts.append(sum_of(((np.minimum(found[0][:-1], found[0][1:]) > 0) & (found[1] < 0))[three]))
    return parts


def _agreement(agree: Whole) -> Iterator[Part]:
    yield sum_of(agree)
    for under in _DISAGREE:
        yield sum_of(agree < under)


def wrong_shapes(shapes: Shapes, tokens: Tokens) -> Iterator[Wrong]:
    """Words beside each other whose shapes stand together much more seldom than by chance."""
    shape = shapes.read(tokens)
    known = (shape != UNKNOWN) & tokens.is_word
    agree = np.where(known[:-1] & known[1:], shapes.agree[0][shape[:-1], shape[1:]], 0)
    for place in np.flatnonzero(agree < -UNIT).tolist():
        yield Wrong("words that do not agree", place, place + 1, -int(agree[place]) / UNIT)
