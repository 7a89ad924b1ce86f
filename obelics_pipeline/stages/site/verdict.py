"""How likely a page is of a farm, by all that is known of its site."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

MEAN, ODDS = "mean", "odds"  # of the site's scores; of the page's score in its site

# From where on each speaks: above what honest sites have. Then what the most of it adds to the log odds, as
# benchmarks/site_verdict.py fits it (docs/site_evidence.md).
SPEAKS_FROM: Mapping[str, float] = MappingProxyType(
    {MEAN: 0.4, "borrowed_share": 0.2, "skeleton_share": 0.4, "skeleton_share_elsewhere": 0.4}
)
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {ODDS: 0.58, MEAN: 8.56, "borrowed_share": 0.09, "skeleton_share": 12.11, "skeleton_share_elsewhere": 5.38}
)
WITH_OTHER_SITES = ("borrowed_share", "skeleton_share_elsewhere")
NOTHING = -5.57  # the log odds where nothing speaks


def probability(values: Mapping[str, Numbers], prior: float) -> Numbers:
    """Of each document, from what is known of it and of its site, NaN where nothing is.

    `values` are ODDS, the probability by scores alone; MEAN, of the site's scores; and each share, of the document and,
    after `site_`, of its site. NaN where all but ODDS are: of one page nobody can tell.
    """
    total = np.full(len(values[ODDS]), NOTHING)
    for name, speaks in evidence(values, prior).items():
        total += WEIGHTS[name] * speaks
    known = ~np.all([np.isnan(value) for name, value in values.items() if name != ODDS], axis=0)
    return np.where(known, 1 / (1 + np.exp(-total)), np.nan)


def evidence(values: Mapping[str, Numbers], prior: float) -> dict[str, Numbers]:
    """How much each speaks for a farm; none speaks against one, for generated text may well score as honest text does.

    ODDS are log odds above those of the prior; the others go from 0 to 1. Of a share the less of the document's and its
    site's speaks. What is shared with other sites speaks no louder than MEAN: a page that others took text from shares
    as much as theirs.
    """
    odds = np.where(np.isnan(values[ODDS]), prior, values[ODDS]).clip(prior, 1 - 1e-6)
    found = {ODDS: np.log(odds / (1 - odds)) - np.log(prior / (1 - prior))}
    for name, start in SPEAKS_FROM.items():
        less = values[MEAN] if name == MEAN else np.minimum(values[name], values[f"site_{name}"])
        found[name] = np.maximum(np.where(np.isnan(less), 0, less) - start, 0) / (1 - start)
    for name in WITH_OTHER_SITES:
        found[name] = np.minimum(found[name], found[MEAN])
    return found
