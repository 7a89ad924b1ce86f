"""Bounds of a score, asked of many scores at once."""

from __future__ import annotations

import numpy as np

from obelics_pipeline.core.config.filtering import Bounds
from obelics_pipeline.inspect.tune.documents import Mask, Numbers


def within(bounds: Bounds, scores: Numbers) -> Mask:
    """As `Bounds.holds`, of each score; a NaN is within no bound, and within bounds that are none."""
    held = np.ones(len(scores), bool)
    with np.errstate(invalid="ignore"):
        if bounds.min is not None:
            held &= scores >= bounds.min
        if bounds.max is not None:
            held &= scores <= bounds.max
        if bounds.below is not None:
            held &= scores < bounds.below
    return held
