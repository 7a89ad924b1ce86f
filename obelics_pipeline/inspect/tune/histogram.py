"""The distribution of a score, cut so that a person can see where a threshold would fall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.inspect.tune.documents import Mask, Numbers

BINS = 80
WIDE = 100.0  # times the median that the highest value may be before a logarithmic scale shows more


@dataclass(frozen=True)
class Histogram:
    """Counts between rising `edges`, of all values and of kept ones. `log`: the edges are equally far apart on a log
    scale.
    """

    edges: Numbers
    all: NDArray[np.int64]
    kept: NDArray[np.int64]
    log: bool
    without: int  # how many have no value

    def to_json(self) -> dict[str, Any]:
        """Lists of numbers."""
        arrays = {name: getattr(self, name).tolist() for name in ("edges", "all", "kept")}
        return {**arrays, "log": self.log, "without": self.without}


def histogram(values: Numbers, kept: Mask, log: bool | None = None) -> Histogram:
    """The distribution of values; NaN is no value.

    Without a wish, the scale is logarithmic where all values are positive, or zero, and the highest is more than `WIDE`
    times the median. Whole numbers of few values get a bin each.
    """
    there = ~np.isnan(values)
    some, of_kept = values[there], values[there & kept]
    wide = len(some) > 0 and some.min() >= 0 and some.max() > WIDE * max(float(np.median(some)), 1e-9)
    logarithmic = (wide if log is None else log) and len(some) > 0 and some.max() > 0 and some.min() >= 0
    edges = np.unique(_edges(some, logarithmic))  # two may be one where values hardly differ
    counts = [np.histogram(part, edges)[0].astype(np.int64) for part in (some, of_kept)]
    return Histogram(edges, counts[0], counts[1], bool(logarithmic), int(np.count_nonzero(~there)))


def _edges(values: Numbers, logarithmic: bool) -> Numbers:
    if len(values) == 0:
        return np.array([0.0, 1.0])
    low, high = float(values.min()), float(values.max())
    if logarithmic:
        least = float(values[values > 0].min())
        edges: Numbers = np.array([least, least * 2])
        if high > least:
            edges = np.geomspace(least, high, BINS + 1)
            edges[0], edges[-1] = least, high  # against rounding: no value may fall outside
        return np.concatenate([[0.0], edges]) if low == 0 else edges
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    whole = bool(np.all(values == np.round(values))) and high - low < BINS
    return np.arange(low - 0.5, high + 1.0) if whole else np.linspace(low, high, BINS + 1)
