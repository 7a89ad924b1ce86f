"""Of which data sets steps are made, and what that alone explains of a number that is a mean over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from obelics_pipeline.training.train.guard.signals import Memory

LEAST_CHANGE = 0.1
"""Change of a data set's share of the targets that is a change of the mix: less moves no number far."""
CHANGE_Z = 5.0
"""And its standard errors: few rows of a step are many data sets by chance."""


@dataclass
class Mixture(Memory):
    """Shares of data sets in the targets of steps."""

    recent: int
    """Steps whose shares are the present."""
    span: int
    """Steps before those that they are compared with."""
    first: int
    """Steps from the beginning whose mix is the usual one until it changes."""
    steps: int = 0
    usual: dict[str, float] = field(default_factory=dict)
    """Share by data set: of a mean at another mix it is said what it would be at this one."""
    settling: bool = False
    """Whether a change was seen of late, and the mix that it ends at is not known yet."""
    shares: dict[str, list[float]] = field(default_factory=dict)
    """By every data set that was seen, of each step of late, newest last."""

    def feed(self, targets: Mapping[str, int]) -> bool:
        """Count a step of so many targets by data set, at least one; whether the mix is another one from about here.

        That is the usual one then. A mean at a mix that is gone would hang on data sets of which little comes any more:
        on few targets, and on what is forgotten because it is shown less. A change is seen while it goes on, so this
        says so once more when enough steps have come after it.
        """
        total = sum(targets.values())
        length = max(map(len, self.shares.values()), default=0)
        for name in targets.keys() - self.shares.keys():
            self.shares[name] = [0.0] * length
        for name, shares in self.shares.items():
            shares.append(targets.get(name, 0) / total)
            del shares[: -(self.recent + self.span)]
            if self.steps < self.first:
                self.usual[name] = (self.usual.get(name, 0.0) * self.steps + shares[-1]) / (self.steps + 1)
        self.steps += 1
        settled = self.settling and length + 1 == self.recent
        changed = any(self._has_changed(shares) for shares in self.shares.values())
        if changed or settled:
            self.usual = {name: sum(shares[-self.recent :]) / self.recent for name, shares in self.shares.items()}
            self.settling = changed
        if changed:
            self.shares = {name: [] for name in self.shares}
        return changed or settled

    def expected(self, targets: Mapping[str, int], levels: Mapping[str, float]) -> tuple[float, float]:
        """A mean over data sets that stand at these levels: at the mix of a step, and at the usual mix.

        A data set without a level is left out of both. Where nothing is left, the two are equal.
        """
        here, usual = mean_at(targets, levels), mean_at(self.usual, levels)
        if here is None or usual is None or len(levels) < 2:
            return 1.0, 1.0
        return here, usual

    def _has_changed(self, shares: list[float]) -> bool:
        if len(shares) < 3 * self.recent:
            return False
        before, now = np.asarray(shares[: -self.recent]), np.asarray(shares[-self.recent :])
        change = abs(float(now.mean() - before.mean()))
        return change > max(LEAST_CHANGE, CHANGE_Z * float(before.std()) / sqrt(self.recent))


def mean_at(weights: Mapping[str, float], levels: Mapping[str, float]) -> float | None:
    """The mean of the levels at a mix; of data sets that have one. None where none has."""
    whole = sum(weight for name, weight in weights.items() if name in levels)
    return sum(weight * levels[name] for name, weight in weights.items() if name in levels) / whole if whole else None
