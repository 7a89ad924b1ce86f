"""Costs by least squares: a + b * units + c * rows, none of them below zero."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from obelics_pipeline.inspect.check.driver_costs import FittedCost


class Size(NamedTuple):
    """What a measurement was made of."""

    units: float
    rows: float


def fitted(sizes: Sequence[Size], costs: Sequence[float]) -> FittedCost:
    """The fit whose squares of errors are least, of those without a negative cost."""
    columns = np.array([[1.0, size.units, size.rows] for size in sizes])
    found = np.array(costs)
    best, least = np.zeros(3), float(found @ found)
    for some in (list(s) for n in (1, 2, 3) for s in combinations(range(3), n)):
        solved = np.linalg.lstsq(columns[:, some], found, rcond=None)[0]
        error = float(np.square(columns[:, some] @ solved - found).sum())
        if solved.min() >= 0 and error < least:
            best, least = np.zeros(3), error
            best[some] = solved
    return FittedCost(*best.tolist())
