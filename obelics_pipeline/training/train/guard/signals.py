"""Tests of one number over time. Each keeps what it remembers as JSON values, so that a checkpoint can hold it.

Numbers that are positive by nature are given as logarithms: a deviation is then a factor, and a falling loss has the
same spread early and late.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, field, fields
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

MAD_TO_SIGMA = 1.4826
"""The median absolute deviation of a normal distribution times this is its standard deviation."""
SUMMED_UP = 8
"""Values after which a full window is summed up anew."""


def median(values: Sequence[float]) -> float:
    """Raises ValueError where there are none. (For the few values of a window, ten times as fast as numpy's.)"""
    if not values:
        raise ValueError("no values")
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def robust_deviation(values: Sequence[float], floor: float) -> float:
    """Robust standard deviation, by the median absolute deviation; at least `floor`, for a number that stood still."""
    middle = median(values)
    return max(MAD_TO_SIGMA * median([abs(v - middle) for v in values]), floor)


def theil_sen(steps: Sequence[float], values: Sequence[float]) -> float:
    """The median of the slopes between all pairs (Sen 1968): outliers do not turn it. 0 for fewer than two steps."""
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(x) > 48:  # a thousand pairs are enough
        chosen = np.linspace(0, len(x) - 1, 48).astype(int)
        x, y = x[chosen], y[chosen]
    first, second = np.triu_indices(len(x), 1)
    run = x[second] - x[first]
    slopes = (y[second] - y[first])[run != 0] / run[run != 0]
    return float(np.median(slopes)) if len(slopes) else 0.0


@dataclass(frozen=True)
class Reading:
    """How far a number is from where it was expected."""

    value: float
    level: float
    """What was expected; a jump's return is measured against it."""
    rise: float
    """`value` less what was to be expected, never more than what the fall of late explains."""
    z: float
    """`rise` in robust deviations."""
    scale: float
    """One such deviation, of this value."""
    record: float
    """`rise` as a multiple of the largest in the window; inf where the window had none."""


class Memory:
    """What a signal remembers: those of its fields that have a default, lists, dicts and numbers."""

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {name: copy(getattr(self, name)) for name in self._names()}

    def load(self, state: Mapping[str, Any]) -> None:
        """As `state` gave it."""
        for name in self._names():
            setattr(self, name, copy(state[name]))

    def _names(self) -> list[str]:
        made: Any = self
        return [f.name for f in fields(made) if f.default is not MISSING or f.default_factory is not MISSING]


@dataclass
class Jump(Memory):
    """Deviation of a number from its level of late, in units of how it usually deviates.

    The window is summed up every `SUMMED_UP` values only; the sums are part of the state, so that a run that was
    interrupted reads the same.
    """

    window: int
    short: int
    least: int
    floor: float
    """Least deviation that counts as one."""
    values: list[float] = field(default_factory=list)
    """Of late, newest last."""
    residuals: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    sums: dict[str, float] = field(default_factory=dict)
    """Of the window: centre, scale, largest residual up and down, median weight; age in values."""

    def read(self, value: float, weight: float = 1.0) -> Reading | None:
        """Where `value` stands; None before there are `least` values to compare it with.

        `weight` is how much the value rests on (targets, say): one that rests on less may deviate more.
        """
        if len(self.residuals) < self.least or not self.sums:
            return None
        level, centre, thin = median(self.values[-self.short :]), self.sums["centre"], self._thin(weight)
        # a falling number lags above its level's median: that is no reason to call its standing still a rise
        rise = value - level
        rise = max(0.0, min(rise, rise - centre)) if rise > 0 else min(0.0, max(rise, rise - centre))
        scale = self.sums["scale"] / thin
        largest = self.sums["up" if rise > 0 else "down"] / thin
        return Reading(value, level, rise, rise / scale, scale, abs(rise) / largest if largest else inf)

    def feed(self, value: float, weight: float = 1.0) -> None:
        """Remember a value that was judged healthy."""
        if len(self.values) >= self.short // 2:
            residual = (value - median(self.values[-self.short :])) * self._thin(weight)
            self.residuals.append(residual)
            if self.sums:
                self.sums["up"] = max(self.sums["up"], residual)
                self.sums["down"] = max(self.sums["down"], -residual)
                self.sums["age"] += 1
            if not self.sums or self.sums["age"] >= min(SUMMED_UP, len(self.residuals) // 4):
                self._sum_up()
        self.values.append(value)
        self.weights.append(weight)
        del self.values[: -self.window], self.residuals[: -self.window], self.weights[: -self.window]

    def _thin(self, weight: float) -> float:
        usual = self.sums["weight"] if self.sums else weight
        return max(0.1, sqrt(min(1.0, weight / max(usual, 1e-9))))

    def _sum_up(self) -> None:
        self.sums = {
            "centre": median(self.residuals),
            "scale": robust_deviation(self.residuals, self.floor),
            "up": max(0.0, max(self.residuals)),
            "down": max(0.0, -min(self.residuals)),
            "weight": median(self.weights),
            "age": 0.0,
        }


@dataclass
class Drift(Memory):
    """Slow departure from the line that a number was on.

    The median of the last `recent` steps is compared with the line through the `span` steps before them. A rising line
    is followed, as far as its own noise: gradient norms climb gently in healthy runs. A falling one is not: a loss
    that has stopped to fall has not risen.
    """

    recent: int
    span: int
    least: int
    """Samples in the span before anything is said."""
    floor: float
    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    line: dict[str, float] = field(default_factory=dict)
    """Through the span: slope, middle, level, scale, number of samples, and the farthest that a stretch of `recent`
    steps lay from the line (slow noise shows there); age in samples."""

    def read(self) -> Reading | None:
        """Where the recent values stand; None while there is too little to say so."""
        line = self.line
        if not line or line["samples"] < self.least:
            return None
        first = bisect_right(self.steps, self.steps[-1] - self.recent)
        new = self.values[first:]
        present = median(new)
        ahead = line["slope"] * (median(self.steps[first:]) - line["middle"])
        level = line["level"]
        expected_up, expected_down = level + max(0.0, ahead), level + min(0.0, ahead)
        rise = present - expected_up if present > expected_up else min(0.0, present - expected_down)
        # of medians: pi/2 times the variance of means
        noise = line["scale"] * sqrt(1.6 / len(new) + 1.6 / line["samples"])
        top = line["largest"]
        return Reading(present, level, rise, rise / noise, line["scale"], abs(rise) / top if top else inf)

    def feed(self, step: int, value: float) -> None:
        """Remember a value: all of them, also those of an alarm, or a drift would never be seen."""
        self.steps.append(step)
        self.values.append(value)
        start = bisect_right(self.steps, step - self.recent - self.span)
        del self.steps[:start], self.values[:start]
        self.line["age"] = self.line.get("age", inf) + 1
        if self.line["age"] >= min(SUMMED_UP, len(self.steps) // 4):
            self._fit()

    def _fit(self) -> None:
        old = bisect_right(self.steps, self.steps[-1] - self.recent)
        if old < max(self.least, 2):
            self.line = {"age": 0.0, "samples": 0.0}
            return
        x, y = self.steps[:old], self.values[:old]
        slope, middle, level = theil_sen(x, y), median(x), median(y)
        rest = [b - slope * (a - middle) for a, b in zip(x, y, strict=True)]
        self.line = {
            "age": 0.0,
            "samples": float(old),
            "slope": slope,
            "middle": middle,
            "level": level,
            "scale": robust_deviation(rest, self.floor),
            "largest": max(abs(m - level) for m in _block_medians(x, rest, self.recent)),
        }


@dataclass
class Climb(Memory):
    """How far a number that should fall stands above the lowest that it was of late.

    Of values `recent` at a time medians are taken, back from the last one; the rise is the last of them less the lowest
    in the `span` before. It is held against the farthest that they rose before, whatever the curve they fall on.
    """

    recent: int
    span: int
    least: int
    """Values before anything is said."""
    floor: float
    values: list[float] = field(default_factory=list)

    def read(self) -> Reading | None:
        """Where the recent values stand; None while there is too little to say so."""
        if len(self.values) < self.least + self.recent:
            return None
        n = self.recent
        blocks = [self.values[i - n : i] for i in range(len(self.values), n - 1, -n)][::-1]
        *before, present = [median(block) for block in blocks]
        rest = [v - m for block, m in zip(blocks, before, strict=False) for v in block]
        scale = robust_deviation(rest, self.floor)
        rise = present - min(before)
        wandered = max(m - min(before[: i + 1]) for i, m in enumerate(before))
        # of medians: pi/2 times the variance of means; of two of them
        return Reading(
            present, min(before), rise, rise / (scale * sqrt(3.2 / n)), scale, abs(rise) / (wandered or 1e-9)
        )

    def feed(self, value: float) -> None:
        """Remember a value: all of them, also those of an alarm, or a climb would never be seen."""
        self.values.append(value)
        del self.values[: -(self.span + self.recent)]


def _block_medians(steps: Sequence[int], values: Sequence[float], length: int) -> list[float]:
    """Medians of stretches of so many steps, counted from the last one."""
    blocks: dict[int, list[float]] = {}
    for step, value in zip(steps, values, strict=True):
        blocks.setdefault((steps[-1] - step) // length, []).append(value)
    return [median(block) for block in blocks.values()]


@dataclass
class Rate(Memory):
    """The learning rate: the optimiser has what the schedule says, and the schedule is that of the step before.

    No shape is assumed: short schedules bend as sharply as broken ones. But a schedule that starts over gives the step
    before another rate than that step had.
    """

    last: list[float] = field(default_factory=list)
    """The last step whose rate was right, and what the schedule gave it, without interventions."""

    def right(self, step: int, rate: float, expected: float, before: float, limit: float) -> float | None:
        """What the rate should be where it is wrong, None where nothing is.

        `expected` of this step, `before`: what the schedule now says of the step before; NaN where either is not known.
        Where that is not what the step before had, it is what the schedule should have said of it.
        """
        if isfinite(expected) and _apart(rate, expected) > limit:
            return expected
        if self.last and self.last[0] == step - 1 and isfinite(before) and _apart(before, self.last[1]) > limit:
            return self.last[1]
        return None

    def feed(self, step: int, scheduled: float) -> None:
        """Remember what the schedule gave a step whose rate was right."""
        self.last = [float(step), scheduled] if isfinite(scheduled) else []


def _apart(one: float, other: float) -> float:
    """The relative difference of two rates, as a share of the larger one; infinite for a rate that is not a number."""
    return abs(one - other) / max(abs(one), abs(other), 1e-30) if isfinite(one) else inf


@dataclass
class Often(Memory):
    """How often something happens: its share of late against its share over the run."""

    recent: int
    share: float = 0.0
    """Moving average over some `recent` steps."""
    times: int = 0
    steps: int = 0

    def feed(self, happened: bool) -> None:
        """Count a step."""
        self.share += (float(happened) - self.share) / min(self.recent, self.steps + 1)
        self.times += happened
        self.steps += 1

    def read(self) -> float:
        """Share of late less the share over the run; 0 until the run is four times as long as "of late"."""
        return self.share - self.times / self.steps if self.steps >= 4 * self.recent else 0.0
