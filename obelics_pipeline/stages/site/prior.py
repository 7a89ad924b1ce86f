"""A page's score, given the other pages of its site.

A score s is the probability that a page is bad were half of all pages bad: so it says s / (1 - s) to 1 for bad,
whatever the share of bad pages is. On a site where that share is r the page is bad with the odds
s / (1 - s) x r / (1 - r). Of r is known a prior, Beta(strength x prior, strength x (1 - prior)), and the scores of the
site's other pages, each of which has the likelihood r s + (1 - r)(1 - s). The r taken is the most probable mean: where

    strength x (prior - r) + sum over the others of w (p - r) = 0,    p = r s / (r s + (1 - r)(1 - s)),

that is, the prior and the others' own posteriors, averaged. Of a page alone on its site it is the prior. `w` makes n
others count as n / (1 + (n - 1) x correlation), for a score errs alike on pages that are alike.

The mean of the others' scores in place of that of their posteriors would be right only of a score that is never in
doubt: one that says 1/2 of everything would make every large site half bad, and one that gives honest pages 0.2 would
hold a thousand of them for worse than none (docs/site_evidence.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.config.site import SiteConfig
from obelics_pipeline.stages.site.evidence import POINTS, WEIGHT

_STEPS = 50  # of halving an interval of length 1: to 10^-15
_SCORES = np.clip(np.arange(POINTS) / (POINTS - 1), 0.025, 0.975)  # no other page speaks for more than 39 to 1

Numbers = NDArray[np.float64]


def share_of_bad(others: NDArray[np.int64], config: SiteConfig) -> Numbers:
    """The share of bad pages of each site.

    `others` has shape (sites, POINTS): the weights of its pages' scores, those of the page that is judged left out.
    """
    n = others.sum(axis=1) / WEIGHT
    weight = 1 / (1 + np.maximum(n - 1, 0) * config.correlation)
    low, high = np.zeros(len(n)), np.ones(len(n))
    for _ in range(_STEPS):
        r = (low + high) / 2
        excess = np.zeros(len(n))
        for number, score in enumerate(_SCORES):  # one after the other: a sum of the same order on every processor
            bad, good = r * score, (1 - r) * (1 - score)
            excess += others[:, number] / WEIGHT * (bad / (bad + good) - r)
        below = config.strength * (config.prior - r) + weight * excess > 0
        low, high = np.where(below, r, low), np.where(below, high, r)
    return (low + high) / 2


def score_in_site(scores: Numbers, others: NDArray[np.int64], config: SiteConfig) -> Numbers:
    """The probability that each page is bad: of its own score, given those of the others. NaN stays NaN."""
    r = share_of_bad(others, config)
    bad, good = scores * r, (1 - scores) * (1 - r)
    return bad / (bad + good)
