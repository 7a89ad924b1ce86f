"""Bounds of a score, asked of many scores at once."""

from __future__ import annotations

import numpy as np

from obelics_pipeline.core.config.filtering import Bounds
from obelics_pipeline.inspect.tune.documents import Mask, Numbers


def within(bounds: Bounds, scores: Numbers) -> Mask:
    """Whether each score is within bounds, as `Bounds.holds`. A NaN is within empty bounds only."""
    held = np.ones(len(scores), bool)
    with np.errstate(invalid="ignore"):
        if bounds.min is not None:
            held &= scores >= bounds.min
        if bounds.max is not None:
            held &= scores <= bounds.max
        if bounds.below is not None:
            held &= scores < bounds.below
    return held
