"""Which documents are unlike the others of their data set and length, and stood where the spike began.

The loss of a text of a few tokens scatters more than that of a long one, data sets differ in what is to be expected,
and after a bad update every loss is high. So a document is compared with those of its data set and about its length,
less what all documents of its step have in common, in spreads of such documents. What repeats itself has a loss that is
too low and is as bad as one that is too high: both sides count, each in spreads of its own. Sums, and the size of a
gradient, would rank long documents first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.training.diagnosis.robust import NORMAL, SMALLEST, Numbers, deviations, robust_deviation
from obelics_pipeline.training.diagnosis.sightings import Sightings

FEW = 24  # documents of a group of like length, at least, where there are so many of a data set
GROUPS = 12  # of like length, at most
FEW_OF_SET = 8  # documents of a data set below which it says nothing of what is usual in it
FEW_OF_STEP = 6  # documents of a step from which its common part is told
SURE = 4.0  # spreads of a median, from which it is no chance
AWAY = 5.0  # steps from the beginning of a spike at which a document is half as suspicious
VICTIM = 0.2  # of a document that came after it, where it is its loss that speaks against it
SHORT = 16.0  # targets: a document of so many counts half, for it can hardly move a batch
LEAST_PULL = 0.2  # spread of logarithms of gradients that is believed, at least
LEAST_SPREAD = 0.25  # of a group, as a share of that of all: a group of equals makes nobody guilty


@dataclass(frozen=True, eq=False)
class Suspicions:
    """By sighting. `expected` is the loss of such a document then; `high` and `low` are spreads above and below it."""

    expected: Numbers
    high: Numbers
    low: Numbers
    el2n: Numbers  # spreads above what such documents have
    pull: Numbers  # spreads that its gradient is above others', 0 where that was not looked at
    timing: Numbers  # 0 to 1
    share: Numbers  # of the targets of its step
    score: Numbers


def suspicions(seen: Sightings, dataset: NDArray[np.int64], onset: int) -> Suspicions:
    """How suspicious each sighting is. `dataset` is that of each; `onset` the step at which the spike begins."""
    dataset = _with_witnesses(dataset)
    expected, above = _residuals(seen.loss, seen, dataset)
    high, low = _scaled(above, seen, dataset)
    _, above_el2n = _residuals(seen.el2n, seen, dataset)
    el2n, _ = _scaled(above_el2n, seen, dataset)
    timing = timing_of(seen.step, onset)
    score = np.maximum(high, low) * timing * np.where(seen.step > onset, VICTIM, 1.0) * _weight(seen)
    return Suspicions(expected, high, low, el2n, np.zeros(len(seen)), timing, _share(seen), score)


def replayed(found: Suspicions, seen: Sightings, gradient: Numbers) -> Suspicions:
    """The same with what gradients say. `gradient` is the norm of that of each mean loss; NaN where it is not known.

    Of an ordinary text the targets pull each their own way, so that the norm falls with the root of their number. All
    were computed on the same weights: what came after a spike's beginning is no victim in them.
    """
    size = np.log(np.maximum(gradient, SMALLEST)) + 0.5 * np.log(seen.n_targets)
    known = np.isfinite(size)
    pull = np.where(known, deviations(size, size, smallest=LEAST_PULL), 0.0)
    score = np.maximum(found.score, pull * found.timing * _weight(seen))
    return replace(found, pull=pull, score=score)


def _weight(seen: Sightings) -> Numbers:
    found: Numbers = seen.n_targets / (seen.n_targets + SHORT)
    return found


def _with_witnesses(dataset: NDArray[np.int64]) -> NDArray[np.int64]:
    """Data sets of too few documents counted to the largest one: a document that is alone would be as expected."""
    names, place, counts = np.unique(dataset, return_inverse=True, return_counts=True)
    if not len(names):
        return dataset
    found: NDArray[np.int64] = np.where(counts < FEW_OF_SET, names[counts.argmax()], names)[place]
    return found


def timing_of(step: NDArray[np.int64], onset: int) -> Numbers:
    """1 where the spike begins, less away from it: what came long before made no spike then."""
    found: Numbers = 1 / (1 + np.abs(onset - step) / AWAY)
    return found


def _residuals(values: Numbers, seen: Sightings, dataset: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """The expected value of each sighting, and how far above it the observed one is."""
    base = _by_length(values, seen, dataset)
    common = _of_step(values - base, seen.step)
    base = _by_length(values - common, seen, dataset)
    expected = base + common
    return expected, values - expected


def _by_length(values: Numbers, seen: Sightings, dataset: NDArray[np.int64]) -> Numbers:
    """The median of those of a data set that are about as long, by straight lines between groups."""
    found = np.zeros(len(values))
    for name in np.unique(dataset):
        of_it = np.flatnonzero(dataset == name)
        length = np.log(seen.n_targets[of_it].astype(np.float64))
        groups = _groups(length)
        middles = [float(np.median(length[group])) for group in groups]
        medians = [float(np.median(values[of_it][group])) for group in groups]
        found[of_it] = np.interp(length, middles, medians)
    return found


def _groups(length: Numbers) -> list[NDArray[np.int64]]:
    """Places of like length, rising; one group where there are few."""
    order = np.argsort(length, kind="stable")
    return [group for group in np.array_split(order, min(GROUPS, max(1, len(order) // FEW))) if len(group)]


def _of_step(values: Numbers, step: NDArray[np.int64]) -> Numbers:
    """The median that the documents of each step share; 0 where it may be chance, or where they are few."""
    found = np.zeros(len(values))
    for one in np.unique(step):
        of_it = np.flatnonzero(step == one)
        middle = float(np.median(values[of_it]))
        if len(of_it) >= FEW_OF_STEP and abs(middle) > SURE * robust_deviation(values[of_it]) / len(of_it) ** 0.5:
            found[of_it] = middle
    return found


def _scaled(above: Numbers, seen: Sightings, dataset: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """In spreads of like documents: above what was expected, and below it."""
    low_scale, high_scale = np.ones(len(above)), np.ones(len(above))
    for name in np.unique(dataset):
        of_it = np.flatnonzero(dataset == name)
        for scale, side in ((low_scale, -1.0), (high_scale, 1.0)):
            scale[of_it] = _spread_by_length(side * above[of_it], seen.n_targets[of_it])
    return above / high_scale, -above / low_scale


def _spread_by_length(above: Numbers, n_targets: NDArray[np.int64]) -> Numbers:
    """The spread of those above zero: documents differ, and a mean over fewer tokens scatters more.

    Its square is a part that all have, from the longer half, and one by the token, from what the shorter half has
    more.
    """
    short = n_targets <= np.median(n_targets)
    whole = _tail(above)
    of_long, of_short = (max(_tail(above[half]), LEAST_SPREAD * whole) ** 2 for half in (~short, short))
    length = float(np.median(n_targets[short]))
    found: Numbers = np.sqrt(of_long + max(of_short - of_long, 0.0) * length / n_targets)
    return np.maximum(found, SMALLEST)


def _tail(above: Numbers) -> float:
    """The spread of those above zero; by those far out, where more are than a normal distribution has."""
    some = above[above > 0]
    if not len(some):
        return 0.0
    return max(NORMAL * float(np.median(some)), float(np.quantile(some, 0.9)) / 1.645)


def _share(seen: Sightings) -> Numbers:
    """Of the targets of its step."""
    _, place = np.unique(seen.step, return_inverse=True)
    total = np.bincount(place, weights=seen.n_targets)
    found: Numbers = seen.n_targets / total[place]
    return found
