"""Ranks that hold the others up, by their own times (without the wait for others)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from obelics_pipeline.training.train.guard.signals import median, robust_deviation


@dataclass(frozen=True)
class Slow:
    """A rank that is slow, or all of them."""

    rank: int | None
    """None: all ranks alike are slower than they were."""
    factor: float
    """Of the other ranks' time, or of the time before."""


@dataclass
class SlowRanks:
    """Times of late, by rank. One slow step is no slow rank: it must be slow in most of `steps`."""

    steps: int = 20
    factor: float = 1.3
    z: float = 6.0
    times: list[list[float]] = field(default_factory=list)
    usual: list[float] = field(default_factory=list)
    """Medians over the ranks, of some hundred steps before."""

    def feed(self, seconds: Sequence[float]) -> list[Slow]:
        """A step's own times, by rank (forward, backward and data, before the first collective); the slow ones."""
        self.times = [*self.times, list(seconds)][-self.steps :]
        if len(self.times) < self.steps:
            return []
        by_rank = [median(list(column)) for column in zip(*self.times, strict=True)]
        middle = median(by_rank)
        noise = robust_deviation(by_rank, 0.02 * middle)
        found = [
            Slow(rank, own / middle)
            for rank, own in enumerate(by_rank)
            if own > self.factor * middle and (own - middle > self.z * noise or len(by_rank) < 4)
        ]
        # of two ranks the middle lies between them: the faster one is the measure
        if len(by_rank) == 2 and max(by_rank) > self.factor * min(by_rank):
            found = [Slow(by_rank.index(max(by_rank)), max(by_rank) / min(by_rank))]
        before = self.usual[: -self.steps]
        if len(before) >= self.steps and not found:
            was = median(before)
            if middle > self.factor * was and middle - was > self.z * robust_deviation(before, 0.02 * was):
                found = [Slow(None, middle / was)]
        self.usual = [*self.usual, median(list(seconds))][-200:]
        return found
