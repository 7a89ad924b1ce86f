"""Medians and spreads that a few wild values do not move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

NORMAL = 1.4826  # of a normal distribution: the standard deviation, in medians of absolute deviations
SMALLEST = 1e-9


def robust_deviation(values: Numbers) -> float:
    """The standard deviation that a normal distribution of the same median absolute deviation has; 0 of nothing."""
    fine = values[np.isfinite(values)]
    if not len(fine):
        return 0.0
    return NORMAL * float(np.median(np.abs(fine - np.median(fine))))


def deviations(values: Numbers, before: Numbers, least: float = 0.0, smallest: float = SMALLEST) -> Numbers:
    """How many spreads of `before` each value is above the median of `before`; a value that is no number is infinite.

    `least` is the smallest spread that is believed, as a share of the median; `smallest` is the same as a number.
    """
    fine = before[np.isfinite(before)]
    if not len(fine):
        return np.zeros(len(values))
    middle = float(np.median(fine))
    scale = max(robust_deviation(fine), least * abs(middle), smallest)
    found: Numbers = np.where(np.isfinite(values), (values - middle) / scale, np.inf)
    return found
