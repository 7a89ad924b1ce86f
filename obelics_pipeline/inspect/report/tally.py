"""Millions of scores in little memory: how often each value came, and with which outcome."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

OUTCOMES = ("kept", "dropped", "elsewhere")  # dropped by this score; dropped by something else
KEPT, DROPPED, ELSEWHERE = range(3)
_BITS = 35  # of the 52 of a double's fraction that are left out: whole numbers to 262,144 stay exact
_AT_ONCE = 2**20  # values that are sorted at once, for to sort in again what is known costs as much each time

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ReasonTally:
    """Counts of values, each cut to one part in 131,072, by outcome. The order in which values come changes nothing."""

    def __init__(self) -> None:
        self._codes: Ints = np.zeros(0, np.int64)
        self._counts: Ints = np.zeros((0, len(OUTCOMES)), np.int64)
        self._waiting: list[tuple[Ints, Ints]] = []

    def add(self, values: Floats, outcomes: NDArray[np.integer]) -> None:
        """Count values. Those that are not numbers are left out."""
        fine = np.isfinite(values)
        codes = (values[fine] + 0.0).view(np.int64) >> _BITS  # + 0.0: there is one zero
        self._waiting.append((codes, outcomes[fine].astype(np.int64)))
        if sum(len(codes) for codes, _ in self._waiting) >= _AT_ONCE:
            self._sort_in()

    def _sort_in(self) -> None:
        codes = np.concatenate([self._codes, *(codes for codes, _ in self._waiting)])
        known = len(self._codes)
        self._codes, at = np.unique(codes, return_inverse=True)
        counts = np.zeros((len(self._codes), len(OUTCOMES)), np.int64)
        counts[at[:known]] = self._counts
        outcomes = [outcomes for _, outcomes in self._waiting]
        np.add.at(counts, (at[known:], np.concatenate([np.zeros(0, np.int64), *outcomes])), 1)
        self._counts, self._waiting = counts, []

    @property
    def total(self) -> int:
        """How many values there are."""
        return int(self._counts.sum()) + sum(len(codes) for codes, _ in self._waiting)

    def sorted(self) -> tuple[Floats, Ints]:
        """The values in rising order, and a row of counts by outcome for each."""
        if self._waiting:
            self._sort_in()
        values = (self._codes << _BITS).view(np.float64)
        order = np.argsort(values)
        return values[order], self._counts[order]

    def quantile(self, share: float) -> float | None:
        """The value below or at which that share of all lies; None if nothing was counted."""
        if not self.total:
            return None
        values, counts = self.sorted()
        cumulative = np.cumsum(counts.sum(axis=1))
        at = int(np.searchsorted(cumulative, max(1, int(np.ceil(share * self.total)))))
        return float(values[at])
