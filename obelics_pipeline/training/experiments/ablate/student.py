"""Student's t without scipy, which training does not need otherwise: intervals of means, paired differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True)
class Mean:
    """A mean with its interval; one value alone has none."""

    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Difference:
    """A mean of paired differences, with its interval, and the least that so many such pairs would have shown."""

    mean: float
    low: float | None
    high: float | None
    n: int
    deviation: float | None
    least: float | None

    @property
    def shown(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def interval(values: Sequence[float], confidence: float) -> Mean:
    """The mean of some values, one a seed, and its t interval."""
    mean, n = fmean(values), len(values)
    if n < 2:
        return Mean(mean, None, None, n)
    half = quantile((1 + confidence) / 2, n - 1) * stdev(values) / math.sqrt(n)
    return Mean(mean, mean - half, mean + half, n)


def paired(differences: Sequence[float], confidence: float, power: float) -> Difference:
    """Differences of two arms, seed by seed (paired t): what a seed does to both arms falls out.

    `least`: the true difference that a test at this confidence finds with this power, given the deviation between
    seeds: (t of the confidence + t of the power) deviations / root n (Bloom 1995, with t for the normal). It is itself
    rough where the deviation is of few seeds.
    """
    found = interval(differences, confidence)
    if found.n < 2:
        return Difference(found.mean, None, None, found.n, None, None)
    deviation = stdev(differences)
    ts = quantile((1 + confidence) / 2, found.n - 1) + quantile(power, found.n - 1)
    return Difference(found.mean, found.low, found.high, found.n, deviation, ts * deviation / math.sqrt(found.n))


def cumulative(t: float, freedom: int) -> float:
    """Share of a t distribution below t, for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    total, term = 0.0, math.cos(angle) if odd else 1.0
    for i in range(1 + odd, freedom, 2):
        total += term
        term *= square * i / (i + 1)
    between = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return (1 + between) / 2


def quantile(share: float, freedom: int) -> float:
    """The t that a share of the distribution, 0.5 or more, is below; by bisection."""
    low, high = 0.0, 1.0
    while cumulative(high, freedom) < share:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if cumulative(middle, freedom) < share else (low, middle)
    return (low + high) / 2
