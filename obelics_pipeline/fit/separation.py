"""How well a score separates wanted texts from the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LOST = 0.01  # share of the positives that may be lost at the threshold that is reported


@dataclass(frozen=True, slots=True)
class Scored:
    """A score of a text whose label is known."""

    positive: bool
    source: str
    score: float


@dataclass(frozen=True)
class OfSource:
    """The texts of one label and source: how many, and the share below the threshold."""

    label: str
    source: str
    texts: int
    below: float


@dataclass(frozen=True)
class Separation:
    """`auc`: probability that a positive scores above a negative, ties half. `threshold`: below it are at most 1 % of
    the positives; `caught` is the share of negatives below it, `kept_at_half` of positives and `caught_at_half` of
    negatives that a threshold of 0.5 keeps and drops.
    """

    positives: int
    negatives: int
    auc: float
    threshold: float
    lost: float
    caught: float
    kept_at_half: float
    caught_at_half: float
    sources: tuple[OfSource, ...]


def separate(scored: Iterable[Scored]) -> Separation | None:
    """The figures; None where one of the labels has no text."""
    rows = list(scored)
    positive = np.array([row.score for row in rows if row.positive])
    negative = np.array([row.score for row in rows if not row.positive])
    if not len(positive) or not len(negative):
        return None
    threshold = float(np.sort(positive)[int(LOST * len(positive))])  # of equal scores none is below it
    return Separation(
        positives=len(positive),
        negatives=len(negative),
        auc=_auc(positive, negative),
        threshold=threshold,
        lost=float(np.mean(positive < threshold)),
        caught=float(np.mean(negative < threshold)),
        kept_at_half=float(np.mean(positive >= 0.5)),
        caught_at_half=float(np.mean(negative < 0.5)),
        sources=tuple(_of_sources(rows, threshold)),
    )


def _auc(positive: npt.NDArray[np.float64], negative: npt.NDArray[np.float64]) -> float:
    """By the two ranks of each positive among the sorted negatives, without a pair being made."""
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left")
    to = np.searchsorted(ordered, positive, "right")
    return float((below.sum() + to.sum()) / 2 / (len(positive) * len(negative)))


def _of_sources(rows: Sequence[Scored], threshold: float) -> Iterable[OfSource]:
    for positive, source in sorted({(row.positive, row.source) for row in rows}, reverse=True):
        scores = [row.score for row in rows if (row.positive, row.source) == (positive, source)]
        below = sum(score < threshold for score in scores) / len(scores)
        yield OfSource("positive" if positive else "negative", source, len(scores), below)


def table(found: Separation) -> list[str]:
    """The figures for a person, in percent."""
    lines = [
        f"held out: {found.positives:,} positives, {found.negatives:,} negatives; AUC {found.auc:.4f}",
        f"below {found.threshold:.6f}: {_percent(found.lost)} of the positives, {_percent(found.caught)} of the "
        "negatives",
        f"from 0.5: {_percent(found.kept_at_half)} of the positives; below: {_percent(found.caught_at_half)} of the "
        "negatives",
    ]
    if any(row.source for row in found.sources):
        lines += [_of_one_source(row) for row in found.sources]
    return lines


def _of_one_source(row: OfSource) -> str:
    return (
        f"  {row.label} {row.source or '(no source)'}: {row.texts:,} texts, {_percent(row.below)} below the threshold"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
