"""Vectors of sentences, learned from which sentence follows which in texts that people wrote.

A sentence is to find the one after it among the others near it, and those of its text among those of other texts: the
softmax loss over a batch's own sentences (van den Oord et al. 2018, "Representation Learning with Contrastive
Predictive Coding"). No generated text is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.fit.say import Say
from obelics_pipeline.models.coherence_detector.sentences import WORDS, sentences_of, traits_of
from obelics_pipeline.models.coherence_detector.vectors import FIRST, Vectors, numbered

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]

_FEWEST = 5  # times that a trait was seen
_RUN, _RUNS = 16, 32  # sentences next to each other of a text, and such runs in a batch
_SHORTEST_RUN = 5
# On texts that were set aside, chosen by the recall of their own sentences out of their order.
_ORDER_PASSES, _SUBJECT_PASSES = 4, 2
_DROPPED = 0.3  # share of traits that a sentence goes without
_SHARPNESS = 8.0  # products of vectors of length 1 are multiplied by it
_OTHERS = -4.0  # added to the sentences of other texts: order is what is to be learned
_RATE = 0.01
_SPREAD = 0.1  # of the first rows
_USUAL = 0.002  # share of sentences with a trait, above which its first row is shorter
_MOST = 127
_CLIPPED = 0.999  # share of a table's numbers that the largest whole number stands for


def fit_vectors(texts: Sequence[str], traits: int, size: int, say: Say) -> Vectors:
    """Those of texts: of at most so many traits, and so many numbers for each."""
    parts = [traits_of(sentences_of(part)) for text in texts for part in _parts(text)]
    count = Counter(chain.from_iterable(set(row) for part in parts for row in part))
    known = [trait for trait in sorted(count, key=lambda trait: (-count[trait], trait)) if count[trait] >= _FEWEST]
    numbers = {trait: number for number, trait in enumerate(known[:traits], FIRST)}
    read = _Read.of(parts, numbers)
    before, after = _fit_order(read, size, say)
    subject = _fit_subject(read, size, say)
    return Vectors(tuple(numbers), *map(_whole, (before, after, subject)))


def _parts(text: str) -> Iterator[str]:
    """Lines of a text together, in parts of about as many words as are read of one."""
    lines: list[str] = []
    words = 0
    for line in text.split("\n"):
        lines.append(line)
        words += len(line.split())
        if words >= WORDS:
            yield "\n".join(lines)
            lines, words = [], 0
    yield "\n".join(lines)


def _whole(table: Floats) -> NDArray[np.int8]:
    largest = float(np.quantile(np.abs(table), _CLIPPED)) or 1.0
    found: NDArray[np.int8] = np.clip(np.rint(table * (_MOST / largest)), -_MOST, _MOST).astype(np.int8)
    return found


@dataclass(frozen=True)
class _Read:
    """The numbers of the traits of all sentences, one after the other; where each sentence and each text begins."""

    traits: Whole
    sentences: Whole  # one more than there are
    texts: Whole
    known: int

    @classmethod
    def of(cls, parts: Sequence[Sequence[Sequence[str]]], numbers: Mapping[str, int]) -> _Read:
        traits, begins = numbered([row for part in parts for row in part], numbers)
        texts = np.cumsum([0, *map(len, parts)])
        return cls(traits, np.append(begins, len(traits)), texts, len(numbers) + FIRST)

    def first_rows(self, size: int, random: np.random.Generator) -> Floats:
        share = np.bincount(self.traits, minlength=self.known) / max(1, len(self.sentences) - 1)
        length = np.minimum(1, (_USUAL / np.maximum(share, 1e-9)) ** 0.25)
        return (random.normal(size=(self.known, size)) * _SPREAD * length[:, None]).astype(np.float32)

    def batches(self, random: np.random.Generator) -> Iterator[tuple[Whole, Whole]]:
        """Numbers of sentences, and of the run that each is of; another cut of the texts each time."""
        offset = int(random.integers(_RUN))
        begins = (
            (begin, min(begin + _RUN, last))
            for first, last in pairwise(self.texts.tolist())
            for begin in range(first + (offset if last - first > 2 * _RUN else 0), last - _SHORTEST_RUN, _RUN)
        )
        runs = np.array(list(begins), np.int64).reshape(-1, 2)
        runs = runs[random.permutation(len(runs))]
        for at in range(0, len(runs), _RUNS):
            some = runs[at : at + _RUNS]
            rows = np.concatenate([np.arange(begin, end) for begin, end in some])
            yield rows, np.repeat(np.arange(len(some)), some[:, 1] - some[:, 0])

    def bag(self, rows: Whole, random: np.random.Generator) -> _Bag:
        """The traits of some sentences, some of them dropped."""
        lengths = self.sentences[rows + 1] - self.sentences[rows]
        ends = np.cumsum(lengths)
        traits = self.traits[np.arange(ends[-1]) + np.repeat(self.sentences[rows] - ends + lengths, lengths)]
        kept = (random.random(len(traits)) >= _DROPPED).astype(np.float32)
        return _Bag(traits, kept, ends - lengths, np.repeat(np.arange(len(rows)), lengths))


@dataclass(frozen=True)
class _Bag:
    """Traits of the sentences of a batch, with what each counts, where each sentence begins, and whose each is."""

    traits: Whole
    kept: Floats
    begins: Whole
    owners: Whole

    def sums(self, table: Floats) -> Floats:
        return np.add.reduceat(table[self.traits] * self.kept[:, None], self.begins, axis=0)

    def gradient(self, of_sums: Floats) -> tuple[Whole, Floats]:
        """The rows that the sums came from, each once, and what moves them."""
        order = np.argsort(self.traits, kind="stable")
        rows, begins = np.unique(self.traits[order], return_index=True)
        each = of_sums[self.owners[order]] * self.kept[order][:, None]
        return rows, np.add.reduceat(each, begins, axis=0)


class _Table:
    """Rows that are learned: Adam (Kingma and Ba 2015) with little memory, for the rows of each batch alone."""

    def __init__(self, first: Floats) -> None:
        self.rows, self._mean, self._square = first, np.zeros_like(first), np.zeros_like(first)

    def move(self, rows: Whole, gradient: Floats, rate: float) -> None:
        self._mean[rows] = 0.8 * self._mean[rows] + 0.2 * gradient
        self._square[rows] = 0.98 * self._square[rows] + 0.02 * gradient * gradient
        self.rows[rows] -= rate * self._mean[rows] / (np.sqrt(self._square[rows]) + 1e-6)


def _fit_order(read: _Read, size: int, say: Say) -> tuple[Floats, Floats]:
    """Tables in which a sentence is near the one after it."""
    random = np.random.default_rng(0)
    before, after = _Table(read.first_rows(size, random)), _Table(read.first_rows(size, random))
    for number in range(_ORDER_PASSES):
        losses: list[float] = []
        for done, (rows, run) in _timed(read.batches(random)):
            bag = read.bag(rows, random)
            left, left_length = _unit(bag.sums(before.rows))
            right, right_length = _unit(bag.sums(after.rows))
            same = run[:, None] == run[None, :]
            likely = _softmax(_SHARPNESS * (left @ right.T) + np.where(same, 0, _OTHERS).astype(np.float32))
            has = np.flatnonzero(run[1:] == run[:-1])
            losses.append(float(-np.log(likely[has, has + 1] + 1e-9).mean()))
            wrong = np.zeros_like(likely)
            wrong[has] = likely[has]
            wrong[has, has + 1] -= 1
            wrong *= _SHARPNESS / len(has)
            rate = _rate(number + done, _ORDER_PASSES)
            before.move(*bag.gradient(_of_sums(left, left_length, wrong @ right)), rate)
            after.move(*bag.gradient(_of_sums(right, right_length, wrong.T @ left)), rate)
        say(f"order of sentences, pass {number + 1} of {_ORDER_PASSES}: loss {np.mean(losses):.3f}")
    return before.rows, after.rows


def _fit_subject(read: _Read, size: int, say: Say) -> Floats:
    """A table in which the sentences of one text are near each other."""
    random = np.random.default_rng(1)
    table = _Table(read.first_rows(size, random))
    for number in range(_SUBJECT_PASSES):
        losses: list[float] = []
        for done, (rows, run) in _timed(read.batches(random)):
            bag = read.bag(rows, random)
            unit, length = _unit(bag.sums(table.rows))
            likely = _softmax(_SHARPNESS * (unit @ unit.T))
            wanted = (run[:, None] == run[None, :]).astype(np.float32)
            np.fill_diagonal(wanted, 0)
            wanted /= wanted.sum(axis=1, keepdims=True)
            losses.append(float(-(wanted * np.log(likely + 1e-9)).sum(axis=1).mean()))
            wrong = (likely - wanted) * np.float32(_SHARPNESS / len(rows))
            rate = _rate(number + done, _SUBJECT_PASSES)
            table.move(*bag.gradient(_of_sums(unit, length, (wrong + wrong.T) @ unit)), rate)
        say(f"subjects of sentences, pass {number + 1} of {_SUBJECT_PASSES}: loss {np.mean(losses):.3f}")
    return table.rows


def _timed(batches: Iterator[tuple[Whole, Whole]]) -> Iterator[tuple[float, tuple[Whole, Whole]]]:
    """Each with the share of all that came before it."""
    some = list(batches)
    yield from ((number / len(some), batch) for number, batch in enumerate(some))


def _rate(done: float, passes: int) -> float:
    return _RATE * (1 - done / passes)


def _unit(sums: Floats) -> tuple[Floats, Floats]:
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True)) + np.float32(1e-6)
    return sums / lengths, lengths


def _of_sums(unit: Floats, length: Floats, of_unit: Floats) -> Floats:
    """The gradient of sums, from that of what they were brought to."""
    found: Floats = (of_unit - unit * (of_unit * unit).sum(axis=1, keepdims=True)) / length
    return found


def _softmax(odds: Floats) -> Floats:
    """Of each row, without its own sentence."""
    np.fill_diagonal(odds, -np.inf)
    likely = np.exp(odds - odds.max(axis=1, keepdims=True))
    found: Floats = likely / likely.sum(axis=1, keepdims=True)
    return found
