"""Whether training still gets anywhere: an event for a person, never an action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from obelics_pipeline.training.train.guard.signals import Memory

BLOCKS = 20
"""Blocks that the steps are averaged in: their means are near normal, and near independent."""
T_95 = 2.10
"""Student's t of 18 degrees of freedom, two-sided 95 %."""


@dataclass
class Plateau(Memory):
    """A loss whose slope over some steps cannot be told from zero, or from a rise."""

    steps: int
    total: float = 0.0
    count: int = 0
    blocks: list[float] = field(default_factory=list)

    def feed(self, value: float) -> bool:
        """Count a step; true where one plateau is complete. The next one is counted from there."""
        self.total += value
        self.count += 1
        if self.count < max(self.steps // BLOCKS, 1):
            return False
        self.blocks.append(self.total / self.count)
        self.total, self.count = 0.0, 0
        del self.blocks[:-BLOCKS]
        flat = len(self.blocks) == BLOCKS and not falls(self.blocks)
        if flat:
            self.blocks.clear()
        return flat


def falls(values: Sequence[float]) -> bool:
    """Whether a line through these falls, its slope's 95 % interval wholly below zero."""
    x = np.arange(len(values)) - (len(values) - 1) / 2
    y = np.asarray(values)
    slope = float((x * y).sum() / (x * x).sum())
    rest = y - y.mean() - slope * x
    error = sqrt(float((rest**2).sum()) / max(len(values) - 2, 1) / float((x * x).sum()))
    return slope + T_95 * error < 0


def no_progress(evaluations: Sequence[Mapping[str, float]], last: int) -> bool:
    """Whether none of the numbers (losses: lower is better) has a new best in the last `last` evaluations.

    A number that is missing from an evaluation is skipped. False until there are more than `last` evaluations.
    """
    if len(evaluations) <= last:
        return False
    before, late = evaluations[:-last], evaluations[-last:]
    names = {name for e in evaluations for name in e}
    return not any(
        min((e[name] for e in late if name in e), default=np.inf)
        < min((e[name] for e in before if name in e), default=np.inf)
        for name in names
    )
