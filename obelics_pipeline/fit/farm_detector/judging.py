"""The forest that judges a text by the evidence, and what it is worth on texts that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.rates import threshold
from obelics_pipeline.fit.farm_detector.families import Families, Made
from obelics_pipeline.fit.farm_detector.marked_text import plain
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.training import REPEATABLE, load_lightgbm
from obelics_pipeline.fit.trees import to_forest
from obelics_pipeline.models.forest import Forest

FALSE_POSITIVES = 0.01  # share of honest texts over the threshold
_FOLDS = 5
# Of some forests fitted on 40,000 documents without one family, this one found most of the eighth that was of it.
_TREES = 600
_PARAMETERS: Mapping[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.04,
    "num_leaves": 31,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "verbose": -1,
    **REPEATABLE,
}


class Judge(Protocol):
    """A detector that measures a text, and decides by a forest."""

    @property
    def forest(self) -> Forest:
        """What decides."""

    def evidence(self, text: str) -> dict[str, float] | None:
        """What it decides by; None for a text of too few words."""


class Makes(Protocol):
    """What makes documents to learn from, as `Families` does."""

    def honest(self, random: Random) -> Made:
        """One that somebody wrote."""

    def generated(self, random: Random) -> Made:
        """One that a program made."""


@dataclass(frozen=True)
class Growth:
    """How a forest is grown: its trees, and what differs from the parameters of LightGBM that are usual here."""

    trees: int
    parameters: Mapping[str, Any]


USUAL = Growth(_TREES, {})


@dataclass(frozen=True)
class Judged:
    """Made documents with their evidence: shape (documents, numbers)."""

    families: list[str | None]
    names: tuple[str, ...]
    values: NDArray[np.float32]

    @property
    def made_by(self) -> list[str]:
        """The families of the generated ones, sorted, each once."""
        return sorted({family for family in self.families if family is not None})

    def of(self, family: str) -> NDArray[np.bool_]:
        """Which of them are of a family."""
        return np.array([name == family for name in self.families])

    @property
    def generated(self) -> NDArray[np.bool_]:
        """Which of them are."""
        return np.array([family is not None for family in self.families])


def make_judged(detector: Judge, families: Makes, count: int) -> Judged:
    """Documents made of texts that the network has not seen, every other one of them honest."""
    random = Random(2)
    made: list[tuple[str | None, dict[str, float]]] = []
    while len(made) < count:
        one = families.honest(random) if len(made) % 2 else families.generated(random)
        numbers = detector.evidence(plain(one.text))
        if numbers is not None:
            made.append((one.family, numbers))
    names = tuple(made[0][1])
    values = np.array([[numbers[name] for name in names] for _, numbers in made], np.float32)
    return Judged([family for family, _ in made], names, values)


def fit_forest(judged: Judged, growth: Growth = USUAL) -> Forest:
    """A forest of all of them."""
    return _fit(judged, np.ones(len(judged.families), bool), growth)


def scores_of_unseen(judged: Judged, growth: Growth = USUAL) -> NDArray[np.float64]:
    """The log odds of each document, by a forest that has not seen it nor its neighbours."""
    folds = _folds(judged)
    scores = np.empty(len(folds))
    for fold in range(_FOLDS):
        out = folds == fold
        scores[out] = _fit(judged, ~out, growth).log_odds(judged.values[out])
    return scores


def threshold_of(scores: Sequence[float] | NDArray[np.float64]) -> float:
    """The score that `FALSE_POSITIVES` of these scores, those of honest texts, are above."""
    return float(threshold(scores, FALSE_POSITIVES))


def recalls(judged: Judged, scores: NDArray[np.float64]) -> Iterator[tuple[str, int, float]]:
    """Family, documents, and the share of them above what `FALSE_POSITIVES` of the honest ones are above."""
    yield from _recalls(judged, scores, threshold_of(scores[~judged.generated]))


def recalls_without_each(judged: Judged) -> Iterator[tuple[str, int, float]]:
    """As `recalls`, but each family by a forest of its own, which has seen none of it. Nothing of one family alone.

    The last fifth of the documents is kept from these forests too: the threshold is that of its honest ones.
    """
    kept_back = _folds(judged) == _FOLDS - 1
    for family in judged.made_by if len(judged.made_by) > 1 else ():
        of_it = judged.of(family)
        forest = _fit(judged, ~kept_back & ~of_it)
        over = threshold_of(forest.log_odds(judged.values[kept_back & ~judged.generated]).astype(float))
        found = forest.log_odds(judged.values[of_it]) > over
        yield family, len(found), float(found.mean())


def recalls_at(over: float, detector: Judge, judged: Judged) -> Iterator[tuple[str, int, float]]:
    """Family, documents, and the share of them above a threshold, by the detector's own forest."""
    yield from _recalls(judged, detector.forest.log_odds(judged.values).astype(float), over)


def say_recalls_left_out(
    threshold: float, detector: Judge, strangers: Families | None, documents: int, say: Say
) -> dict[str, float]:
    """Tell what a detector finds, at a threshold, of documents of families that it was not trained on; by family."""
    not_seen: dict[str, float] = {}
    if strangers:
        for family, count, recall in recalls_at(threshold, detector, make_judged(detector, strangers, documents // 4)):
            say(f"{family}: {recall:.3f} of {count} found at this threshold, none of which it was trained on")
            not_seen[family] = round(recall, 4)
    return not_seen


def _recalls(judged: Judged, scores: NDArray[np.float64], over: float) -> Iterator[tuple[str, int, float]]:
    for family in judged.made_by:
        of_it = judged.of(family)
        yield family, int(of_it.sum()), float((scores[of_it] > over).mean())


def _folds(judged: Judged) -> NDArray[np.int64]:
    """The number of each document's fold: neighbours have the same one."""
    return np.arange(len(judged.families)) * _FOLDS // len(judged.families)


def _fit(judged: Judged, rows: NDArray[np.bool_], growth: Growth = USUAL) -> Forest:
    lightgbm = load_lightgbm()
    data = lightgbm.Dataset(judged.values[rows], judged.generated[rows].astype(np.int8))
    parameters = {**_PARAMETERS, **growth.parameters}
    return to_forest(lightgbm.train(parameters, data, growth.trees).dump_model(), judged.names)
