"""How likely a page is of a farm, by all that is known of its site."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

# Weights of log odds: what a share of 1 adds to those of the scores (docs/site_evidence.md says what they were fitted on).
WEIGHTS = {
    "borrowed_share": 3.0,
    "site_borrowed_share": 3.0,
    "skeleton_share": 3.0,
    "site_skeleton_share": 3.0,
    "skeleton_share_elsewhere": 3.0,
    "site_skeleton_share_elsewhere": 3.0,
}


def probability(odds: Numbers, shares: Mapping[str, Numbers]) -> Numbers:
    """From the log odds that scores give, and shares of documents and of their sites, NaN where nothing is known.

    NaN where all shares are: of one page of a site nobody can tell.
    """
    total, known = odds.copy(), np.zeros(len(odds), bool)
    for name, weight in WEIGHTS.items():
        is_known = ~np.isnan(shares[name])
        total += weight * np.where(is_known, shares[name], 0)
        known |= is_known
    return np.where(known, 1 / (1 + np.exp(-total)), np.nan)
