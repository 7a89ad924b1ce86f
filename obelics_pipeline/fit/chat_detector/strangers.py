"""What a detector says of generators and domains that it has not seen, and how its parts are mixed by that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.rates import auc, share_above, threshold
from obelics_pipeline.fit.chat_detector.texts import PEOPLE, LabelledText, fair_weights
from obelics_pipeline.models.chat_detector.detector import MIX_ONE, Mix
from obelics_pipeline.models.forest import SCALE

FALSE_POSITIVES = 0.01
FEWEST = 50  # honest texts of a domain, below which there is no threshold


@dataclass(frozen=True, slots=True)
class Cell:
    """Texts of one generator and domain, and people's of this domain, as rows; `log_odds` of both parts of them all."""

    generator: str
    domain: str
    machine: NDArray[np.int64]
    people: NDArray[np.int64]

    def unseen(self, texts: Sequence[LabelledText]) -> NDArray[np.int64]:
        """Rows of all that is neither of the generator nor of the domain."""
        kept = (one.generator != self.generator and one.domain != self.domain for one in texts)
        return np.flatnonzero(np.fromiter(kept, bool, len(texts)))

    def rows(self) -> NDArray[np.int64]:
        """Those of the machine, then those of people."""
        return np.concatenate([self.machine, self.people])


def cells_of(texts: Sequence[LabelledText]) -> Iterator[Cell]:
    """One for each generator and domain, where others are left to learn from."""
    generators = np.array([one.generator for one in texts])
    domains = np.array([one.domain for one in texts])
    for generator, domain in sorted({(one.generator, one.domain) for one in texts if one.generator != PEOPLE}):
        of_domain = domains == domain
        others = (generators != PEOPLE) & (generators != generator) & ~of_domain
        if others.any() and ((generators == PEOPLE) & ~of_domain).any():
            machine, people = of_domain & (generators == generator), of_domain & (generators == PEOPLE)
            yield Cell(generator, domain, np.flatnonzero(machine), np.flatnonzero(people))


@dataclass(frozen=True, slots=True)
class Found:
    """How well a cell's texts differ from people's of the same domain; None where there are too few of these."""

    texts: int
    recall: float
    interval: tuple[float, float]  # of the recall, Wilson's
    auc: float


def found_of(cell: Cell, scores: NDArray[np.float64]) -> Found | None:
    """At `FALSE_POSITIVES` of people's texts of the domain."""
    if len(cell.people) < FEWEST:
        return None
    machine, people = scores[: len(cell.machine)].tolist(), scores[len(cell.machine) :].tolist()
    share = share_above(machine, threshold(people, FALSE_POSITIVES))
    return Found(len(machine), share.value, share.interval(), auc(machine, people))


def mix_of(cells: Sequence[Cell], said: Sequence[NDArray[np.float64]], texts: Sequence[LabelledText]) -> Mix:
    """Shares of the words and the forest by which their log odds, of texts that they have not seen, foresee the truth.

    `said` has a row of two log odds for each of a cell's `rows`. Logistic regression, by Newton's method.
    """
    rows = np.concatenate([cell.rows() for cell in cells])
    inputs = np.column_stack([np.concatenate(list(said)), np.ones(len(rows))])
    chosen = [texts[row] for row in rows]
    truth = np.array([one.generator != PEOPLE for one in chosen])
    weights, share = np.zeros(3), fair_weights(chosen)
    for _ in range(25):
        likely = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (share * (likely - truth)) + 1e-4 * weights
        bend = (inputs * (share * likely * (1 - likely))[:, None]).T @ inputs + 1e-4 * np.eye(3)
        weights -= np.linalg.solve(bend, slope)
    words, forest, bias = weights.tolist()
    return Mix(max(0, round(words * MIX_ONE)), max(0, round(forest * MIX_ONE)), round(bias * SCALE))
