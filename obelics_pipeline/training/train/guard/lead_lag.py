"""Which number moved first around a loss spike. Activations and gradients lead a divergence, and follow a bad page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 8
"""Steps that two series must overlap in at a lag."""


@dataclass(frozen=True)
class LeadLag:
    """How one number goes with another."""

    lag: int
    """Steps by which it comes before the other (negative: behind it)."""
    correlation: float
    """At that lag, of the changes from step to step."""


def lead_lag(reference: Sequence[float], other: Sequence[float], most: int = 20) -> LeadLag | None:
    """At which lag the changes of `other` go best with those of `reference`, up to `most` steps either way.

    Values that are not finite are skipped. None if the two do not overlap enough, or one of them stands still. Of
    equal correlations the smaller lag is taken.
    """
    a, b = _changes(reference), _changes(other)
    best: LeadLag | None = None
    for lag in sorted(range(-most, most + 1), key=lambda n: (abs(n), n)):
        if abs(lag) >= min(len(a), len(b)):
            continue
        first, second = (a[lag:], b[: len(b) - lag]) if lag >= 0 else (a[:lag], b[-lag:])
        both = np.isfinite(first) & np.isfinite(second)
        if int(both.sum()) < FEWEST:
            continue
        x, y = first[both] - first[both].mean(), second[both] - second[both].mean()
        size = float(np.sqrt((x * x).sum() * (y * y).sum()))
        if size == 0:
            continue
        correlation = float((x * y).sum()) / size
        if best is None or abs(correlation) > abs(best.correlation) + 1e-9:
            best = LeadLag(lag, correlation)
    return best


def lead_lags(loss: Sequence[float], others: Mapping[str, Sequence[float]], most: int = 20) -> dict[str, LeadLag]:
    """`lead_lag` of each against the loss, where there is one."""
    found = {name: lead_lag(loss, series, most) for name, series in others.items()}
    return {name: f for name, f in found.items() if f is not None}


def _changes(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """From step to step; one huge step counts no more than ten usual ones, or it would be all that there is."""
    changes = np.diff(np.asarray(values, dtype=np.float64))
    finite = changes[np.isfinite(changes)]
    if not len(finite):
        return changes
    usual = float(np.median(np.abs(finite - np.median(finite)))) or float(np.abs(finite).max()) or 1.0
    return np.clip(changes, -10 * usual, 10 * usual)
