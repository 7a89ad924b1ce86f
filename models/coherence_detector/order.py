"""Numbers of sentences that were compared with each other: are those next to each other like any two, or not?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt

import numpy as np

from obelics_pipeline.models.coherence_detector.comparison import NEAR, Comparison
from obelics_pipeline.models.coherence_detector.vectors import Whole

Numbers = Iterator[tuple[str, float]]

_STEPS = (1, 2, 3, -1, -2)  # sentences from one to the other
_NEAR = 3  # sentences
_LAGS = ((1, 1), (2, 3), (4, 8))  # fewest and most sentences between two whose subjects are compared


def of_order(found: Comparison) -> Numbers:
    """How much better sentences follow each other as they stand than in any other order."""
    count, (plain_total, total, squares) = len(found.rows), found.totals.tolist()
    deviation = max(1.0, _deviation(count * (count - 1), total, squares))
    sums = dict(zip(NEAR, found.near.tolist(), strict=True))
    means = {step: sums[step] / (count - abs(step)) for step in NEAR}
    for step in _STEPS:
        yield f"step_{step}", means[step]
    for step in _STEPS[:2]:
        yield f"step_{step}_in_deviations", means[step] / deviation
        yield f"step_{step}_significance", sums[step] / deviation / isqrt((count - step) << 16) * 256
    steps = found.steps.tolist()
    yield "steps_above", sum(step > 0 for step in steps) / len(steps)
    yield "steps_high", sum(step > deviation for step in steps) / len(steps)
    yield "steps_low", sum(step < -deviation for step in steps) / len(steps)
    yield "steps_near", sum(means.values()) / _NEAR
    plain = sorted(found.nexts.tolist())
    yield "follows", sum(plain) / len(plain)
    yield "follows_a_tenth", float(plain[len(plain) // 10])
    yield "follows_half", float(plain[len(plain) // 2])
    yield "follows_any", plain_total / (count * (count - 1))
    yield "follows_deviation", deviation


def of_subjects(found: Comparison) -> Numbers:
    """Whether the sentences of a text, those near each other and those far apart, are about the same."""
    count, pairs, lags = len(found.rows), np.sort(found.pairs), found.lags.tolist()
    alike, next_to = _mean(pairs), _mean_of_lags(lags, 1, 1)
    yield "alike", alike
    yield "alike_deviation", _deviation_of(pairs)
    yield "alike_a_tenth", float(pairs[len(pairs) // 10])
    yield "alike_nine_tenths", float(pairs[len(pairs) * 9 // 10])
    for fewest, most in _LAGS:
        yield f"alike_{fewest}_to_{most}", _mean_of_lags(lags, fewest, most)
    far = _mean_of_lags(lags, count // 2, count - 1)
    yield "alike_far", far
    yield "alike_next_over_far", next_to - far
    yield "alike_next_over_all", next_to - alike
    yield "alike_near_over_all", _mean_of_lags(lags, 1, _NEAR) - alike
    rows = np.sort(found.rows)
    yield "alike_rows_deviation", _deviation_of(rows)
    yield "alike_rows_a_tenth", float(rows[count // 10])


def _mean_of_lags(lags: Sequence[int], fewest: int, most: int) -> float:
    """That of all pairs of sentences so far apart, by the sums of those of each distance."""
    most = min(most, len(lags) - 1)
    apart = range(min(fewest, most), most + 1)
    return sum(lags[lag] for lag in apart) / sum(len(lags) - lag for lag in apart)


def _mean(values: Whole) -> float:
    return int(values.sum()) / len(values)


def _deviation_of(values: Whole) -> float:
    return _deviation(len(values), int(values.sum()), int((values * values).sum()))


def _deviation(count: int, total: int, squares: int) -> float:
    """The standard deviation: a square root is the same on every machine, as are sums of whole numbers."""
    return isqrt(count * squares - total * total) / count
