"""What a detector says of generators and domains that it has not seen, and how its parts are mixed by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.rates import Share, auc, share_above, threshold
from obelics_pipeline.fit.chat_detector.texts import PEOPLE, TRUSTED, LabelledText, fair_weights
from obelics_pipeline.models.chat_detector.detector import MIX_ONE, NOTHING, Mix, Settled
from obelics_pipeline.models.forest import SCALE

FALSE_POSITIVES = 0.01
BOUND = np.log(0.95 / 0.05)  # log odds of the score that docs name as a bound
FEWEST = 50  # honest texts of a domain, below which there is no threshold
FEWEST_OF_MACHINE = 20  # texts of a generator and domain, below which they are not left out
_LOST = 0.01  # of a machine's unseen texts with a score above 0.5, by what words alone settle

Odds = NDArray[np.float64]  # of words and forest, shape (texts, 2)


@dataclass(frozen=True, slots=True)
class Cell:
    """Texts of one generator and domain, people's of this domain, and of domains of which only people wrote: rows."""

    generator: str
    domain: str
    machine: NDArray[np.int64]
    people: NDArray[np.int64]
    others: NDArray[np.int64]

    def unseen(self, texts: Sequence[LabelledText]) -> NDArray[np.int64]:
        """Rows of all that is neither of the generator nor of the domain, nor among the others."""
        kept = np.array([one.generator != self.generator and one.domain != self.domain for one in texts])
        kept[self.others] = False
        return np.flatnonzero(kept)

    def rows(self) -> NDArray[np.int64]:
        """Those of the machine, then those of people of the domain, then the others."""
        return np.concatenate([self.machine, self.people, self.others])


def cells_of(texts: Sequence[LabelledText]) -> list[Cell]:
    """One for each generator and domain, where others are left to learn from.

    Domains of which only people wrote are dealt out to the cells: each is left out once.
    """
    generators = np.array([one.generator for one in texts])
    domains = np.array([one.domain for one in texts])
    by_people = generators == PEOPLE
    pairs = sorted({(one.generator, one.domain) for one in texts if one.generator != PEOPLE})
    found = []
    for generator, domain in pairs:
        of_domain = domains == domain
        machine = of_domain & (generators == generator)
        learned = ~by_people & (generators != generator) & ~of_domain
        if machine.sum() >= FEWEST_OF_MACHINE and learned.any() and (by_people & ~of_domain).any():
            found.append((generator, domain, machine, of_domain & by_people))
    only_people = sorted(set(domains[by_people]) - {domain for _, domain in pairs} - {TRUSTED})
    return [
        Cell(
            generator,
            domain,
            np.flatnonzero(machine),
            np.flatnonzero(people),
            _rows(domains, only_people[place :: len(found)]),
        )
        for place, (generator, domain, machine, people) in enumerate(found)
    ]


def _rows(domains: NDArray[np.str_], chosen: Sequence[str]) -> NDArray[np.int64]:
    return np.flatnonzero(np.isin(domains, chosen))


@dataclass(frozen=True, slots=True)
class Found:
    """How well a cell's texts differ from people's of the same domain, and how many are over `BOUND`."""

    recall: Share
    auc: float
    over_bound: Share
    people_over_bound: Share


def found_of(cell: Cell, odds: NDArray[np.float64]) -> Found | None:
    """At `FALSE_POSITIVES` of people's texts of the domain; None where there are too few of these."""
    if len(cell.people) < FEWEST:
        return None
    end = len(cell.machine) + len(cell.people)
    machine, people = odds[: len(cell.machine)].tolist(), odds[len(cell.machine) : end].tolist()
    recall = share_above(machine, threshold(people, FALSE_POSITIVES))
    return Found(recall, auc(machine, people), share_above(machine, BOUND), share_above(people, BOUND))


def mix_of(cells: Sequence[Cell], said: Sequence[Odds], texts: Sequence[LabelledText]) -> Mix:
    """Shares of the words and the forest by which their log odds, of texts that they have not seen, foresee the truth.

    `said` has a row for each of a cell's `rows`. Logistic regression, by Newton's method.
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


def mixed(mix: Mix, said: Odds) -> NDArray[np.float64]:
    """The log odds of both parts together."""
    both: NDArray[np.float64] = said @ np.array([mix.words, mix.forest]) / MIX_ONE + mix.bias / SCALE
    return both


def settled_of(cells: Sequence[Cell], said: Sequence[Odds], mix: Mix) -> Settled:
    """Below which log odds of the words the forest is not asked, by what both say of unseen texts.

    It is taken to say what it says of most people's texts below them.
    """
    machine = np.concatenate([odds[: len(cell.machine)] for cell, odds in zip(cells, said, strict=True)])
    people = np.concatenate([odds[len(cell.machine) :] for cell, odds in zip(cells, said, strict=True)])
    likely = np.sort(machine[mixed(mix, machine) > 0, 0])
    if not len(likely):
        return NOTHING
    words = likely[int(_LOST * len(likely))]
    below = np.sort(people[people[:, 0] < words, 1])
    return Settled(round(words * SCALE), round(below[len(below) // 2] * SCALE)) if len(below) else NOTHING
