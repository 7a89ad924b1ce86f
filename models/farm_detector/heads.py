"""What each head of the network says of a whole text; compiled where that was built, else with NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

try:
    from obelics_pipeline.models.farm_detector import _heads as compiled
except ImportError:
    COMPILED = False
else:
    COMPILED = True

SHARES = (0.25, 0.5, 0.8, 0.95)  # probabilities over which tokens are counted
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
STRETCHES = (16, 48, 128)  # tokens next to each other
NAMES = (
    "mean",
    "log_odds",
    *(f"over_{share:g}" for share in SHARES),
    *(f"quantile_{quantile:g}" for quantile in QUANTILES),
    *(f"{side}_{stretch}" for stretch in STRETCHES for side in ("highest", "lowest")),
)

Numbers = NDArray[np.float64]


def columns(log_odds: Numbers, probability: Numbers) -> Numbers:
    """Means, tails, and the stretches that look worst and best, of at least one token.

    Shapes (heads, tokens), each row next to the other; (heads, `NAMES`) of the result.
    """
    return columns_compiled(log_odds, probability) if COMPILED else columns_in_numpy(log_odds, probability)


def columns_compiled(log_odds: Numbers, probability: Numbers) -> Numbers:
    """The same, by the compiled part, where `COMPILED`."""
    heads, rising = len(log_odds), np.sort(log_odds, axis=1)
    return np.frombuffer(compiled.columns(rising, probability, heads), np.float64).reshape(heads, len(NAMES))


def columns_in_numpy(log_odds: Numbers, probability: Numbers) -> Numbers:
    """The same, by NumPy: what both must return."""
    tokens = log_odds.shape[1]
    values, sums = np.sort(log_odds, axis=1), running(probability)
    found = [probability.mean(axis=1), values.mean(axis=1)]
    found += [np.count_nonzero(probability > share, axis=1) / tokens for share in SHARES]
    found += [values[:, int(quantile * (tokens - 1))] for quantile in QUANTILES]
    found += [side for stretch in STRETCHES for side in extremes(sums, stretch)]
    return np.stack(found, axis=1)


def extremes(sums: Numbers, stretch: int) -> tuple[Numbers, Numbers]:
    """The highest and the lowest mean of a stretch, by running sums; of the whole where it is shorter than one."""
    stretch = min(stretch, sums.shape[-1] - 1)
    within = sums[..., stretch:] - sums[..., :-stretch]
    return within.max(axis=-1) / stretch, within.min(axis=-1) / stretch


def running(values: Numbers) -> Numbers:
    """Sums of all values before each place along the last axis, and of all values."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums
