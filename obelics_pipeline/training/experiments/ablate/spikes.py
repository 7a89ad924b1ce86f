"""Which steps are spikes (see `experiment.Spikes` for the definition and its source)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obelics_pipeline.training.diagnosis.robust import deviations
from obelics_pipeline.training.experiments.ablate.experiment import Spikes

LEAST_SPREAD = 0.005  # of the median: a loss that hardly moves has no spikes of a thousandth


def spikes_of(values: Sequence[float | None], rule: Spikes) -> list[int]:
    """Places of the values that are too far above those before them; one that is no number always is."""
    series = np.array([np.nan if value is None else value for value in values], np.float64)
    found = []
    for at in range(len(series)):
        before = series[max(0, at - rule.window) : at]
        if not np.isfinite(series[at]) or (
            at >= rule.least and deviations(series[at : at + 1], before, LEAST_SPREAD)[0] > rule.deviations
        ):
            found.append(at)
    return found
