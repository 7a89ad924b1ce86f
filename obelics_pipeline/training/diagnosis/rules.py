"""The thresholds that would have kept suspects out, and what each would have cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from obelics_pipeline.inspect.map.rules import Bound, Side, round_between
from obelics_pipeline.training.diagnosis.robust import Numbers

COST = 4.0  # of a share of the corpus, in shares of the suspects: a rule that takes more than it gives is none
BEST = 6  # rules that are shown
CHEAP = 0.25  # share of the corpus above which a bound is no advice


@dataclass(frozen=True)
class Removal:
    """A bound, and what it drops: some of the suspects, and a share of the whole corpus.

    `ks` is the largest distance between the distribution of the suspects' scores and that of all.
    """

    bound: Bound
    suspects: int
    of_suspects: int
    share: float
    ks: float

    @property
    def gain(self) -> float:
        """The share of the suspects that it drops, less what it costs."""
        return self.suspects / max(self.of_suspects, 1) - COST * self.share

    @property
    def keeps(self) -> str:
        """What is kept: `word_repetition_ratio <= 0.11`."""
        return f"{self.bound.score} {'>=' if self.bound.side == 'min' else '<='} {self.bound.value:g}"


def removals(corpus: Mapping[str, Numbers], suspects: Sequence[Mapping[str, float | None]]) -> list[Removal]:
    """The best bound of each score and side for a set of suspects, best first; those that cost more than they give not.

    `corpus` has a score's values over all documents, NaN where one was not measured, which no bound drops.
    """
    found = []
    for name, values in corpus.items():
        measured = values[np.isfinite(values)]
        of_them = np.array([v for s in suspects if (v := s.get(name)) is not None and np.isfinite(v)])
        if not len(of_them) or not len(measured):
            continue
        ks = _distance(of_them, measured)
        options = [r for r in _of_score(name, of_them, measured, len(values), len(suspects), ks) if r.gain > 0]
        found += sorted(options, key=lambda r: (-r.gain, r.keeps))[:1]
    return sorted(found, key=lambda r: (-r.gain, -r.ks, r.keeps))[:BEST]


def bounds_for(corpus: Mapping[str, Numbers], scores: Mapping[str, float | None], most: int = 3) -> list[Removal]:
    """The cheapest bounds that would have dropped one document, cheapest first; none that drops more than CHEAP."""
    found = []
    for name, value in scores.items():
        values = corpus.get(name)
        if value is None or values is None or not np.isfinite(value):
            continue
        measured = values[np.isfinite(values)]
        for one in _of_score(name, np.array([value]), measured, len(values), 1, _distance(np.array([value]), measured)):
            if one.share <= CHEAP:
                found.append(one)
    return sorted(found, key=lambda r: (r.share, r.keeps))[:most]


def _of_score(
    name: str, of_them: Numbers, measured: Numbers, documents: int, suspects: int, ks: float
) -> Iterator[Removal]:
    """On each side a bound just beyond each suspect's value: it drops the suspect, and keeps the next one inwards."""
    ordered = np.unique(measured)
    for side in ("min", "max"):
        for value in np.unique(of_them).tolist():
            kept = _neighbour(ordered, value, side)
            if kept is None:
                continue
            bound = Bound(name, side, round_between(kept, value))
            dropped = np.count_nonzero(~_keeps(bound, of_them))
            cost = int(np.count_nonzero(~_keeps(bound, measured)))
            yield Removal(bound, int(dropped), suspects, cost / max(documents, 1), ks)


def _keeps(bound: Bound, values: Numbers) -> np.ndarray:
    kept: np.ndarray = values >= bound.value if bound.side == "min" else values <= bound.value
    return kept


def _neighbour(ordered: Numbers, value: float, side: Side) -> float | None:
    """The next value of the corpus on the side that a bound keeps; None if it has no value there."""
    if side == "min":
        at = int(np.searchsorted(ordered, value, side="right"))
        return float(ordered[at]) if at < len(ordered) else None
    at = int(np.searchsorted(ordered, value, side="left")) - 1
    return float(ordered[at]) if at >= 0 else None


def _distance(some: Numbers, everything: Numbers) -> float:
    """Kolmogorov and Smirnov's: the largest difference between two distributions."""
    places = np.concatenate([some, everything])
    below = [np.searchsorted(np.sort(values), places, side="right") / len(values) for values in (some, everything)]
    return float(np.abs(below[0] - below[1]).max())
