"""Logistic regression on which words and pairs of words texts use, in whole numbers in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.chat_detector.form import tokens_of
from obelics_pipeline.models.chat_detector.word_habits import LIMIT, SLOTS, length_of, slots_of

_STEPS = 100
_PENALTY = 1 / 30  # on the sum of squares of the weights, per text
_CLIPPED = 0.001  # share of the weights that are larger than `LIMIT` can say
_STEEPEST = 0.25  # second derivative of the logistic loss, at most


@dataclass(frozen=True, slots=True)
class WordTable:
    """Texts one after the other: `slots` and `values` of all of them, and where each begins."""

    slots: NDArray[np.int64]
    values: NDArray[np.float64]
    borders: NDArray[np.int64]

    @classmethod
    def of(cls, forms: Sequence[str]) -> WordTable:
        """The table of these texts, each of length 1."""
        slots, values = [np.zeros(0, np.int64)], [np.zeros(0)]
        for form in forms:
            tokens = tokens_of(form.lower())
            found, roots = slots_of(tokens)
            slots.append(found)
            values.append(roots / length_of(len(tokens)))
        borders = np.cumsum([len(one) for one in slots])
        return cls(np.concatenate(slots), np.concatenate(values), borders)

    def __len__(self) -> int:
        return len(self.borders) - 1

    def take(self, rows: NDArray[np.int64]) -> WordTable:
        """That of some texts."""
        begins, ends = self.borders[rows], self.borders[rows + 1]
        chosen = np.concatenate([np.zeros(0, np.int64), *map(np.arange, begins, ends)])
        return WordTable(self.slots[chosen], self.values[chosen], np.concatenate([[0], np.cumsum(ends - begins)]))

    def rows(self) -> NDArray[np.int64]:
        """Of each value, whose it is."""
        return np.repeat(np.arange(len(self)), np.diff(self.borders))


def fit_weights(
    table: WordTable, by_machine: NDArray[np.bool_], share: NDArray[np.float64]
) -> tuple[NDArray[np.int8], int]:
    """Weights by slot, and the weight of 1. `share` is that of each text in the loss; shares come to 1.

    Nesterov's method: the same steps for the same texts.
    """
    rows, texts = table.rows(), len(table)
    slope = 1 / (_STEEPEST * _largest(table, rows, share) + _PENALTY / texts)
    weights, bias = np.zeros(SLOTS), 0.0
    ahead, bias_ahead = weights, bias
    for step in range(_STEPS):
        said = np.bincount(rows, table.values * ahead[table.slots], texts) + bias_ahead
        wrong = share * (1 / (1 + np.exp(-said)) - by_machine)
        pull = np.bincount(table.slots, table.values * wrong[rows], SLOTS) + _PENALTY / texts * ahead
        newer, bias_newer = ahead - slope * pull, bias_ahead - 2 * wrong.sum()
        speed = step / (step + 3)
        ahead, bias_ahead = newer + speed * (newer - weights), bias_newer + speed * (bias_newer - bias)
        weights, bias = newer, bias_newer
    return _whole(weights)


def _largest(table: WordTable, rows: NDArray[np.int64], share: NDArray[np.float64]) -> float:
    """The largest eigenvalue of the weighted products of the slots, and a little more, by power iteration."""
    vector, largest = np.ones(SLOTS), 0.0
    for _ in range(20):
        said = share * np.bincount(rows, table.values * vector[table.slots], len(table))
        product = np.bincount(table.slots, table.values * said[rows], SLOTS)
        largest = float(np.sqrt((product * product).sum()))
        vector = product / max(largest, 1e-300)
    return 1.05 * largest


def _whole(weights: NDArray[np.float64]) -> tuple[NDArray[np.int8], int]:
    sizes = np.sort(np.abs(weights[weights != 0]))
    largest = float(sizes[int((1 - _CLIPPED) * (len(sizes) - 1))]) if len(sizes) else 1.0
    unit = max(1, round(LIMIT / largest))
    return np.clip(np.rint(weights * unit), -LIMIT, LIMIT).astype(np.int8), unit
