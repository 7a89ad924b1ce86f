"""Before a long run: can it learn eight documents by heart, which learning rate does it bear, and is it calm at first?

OPT-175B began with a bug for which no small model converged either; a vision tower of other numbers (EVA-CLIP in
IDEFICS) made a run unstable within hours. Each is seen in a minute, on the config and the plan of the run itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import fmean, median
from typing import Any

import torch

from obelics_pipeline.training.plan.plan_file import Plan
from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.feed import Feed
from obelics_pipeline.training.train.figures import figures_of
from obelics_pipeline.training.train.model_and_optimizer import ModelAndOptimizer
from obelics_pipeline.training.train.monitor.activations import ActivationMonitor

LEARNED = 0.5  # of the first loss: what must be left at most of eight documents that are seen again and again
CALM = 20.0  # times the median gradient norm
FEATURES = (0.02, 20.0)  # root mean square of a tower's output: CLIP, SigLIP and their kind have about 1
LOWEST, HIGHEST = 1e-6, 1.0  # learning rates of the range
EDGE = 1.5  # times the lowest loss so far: beyond it a rate is too high


@dataclass(frozen=True)
class Probed:
    """The result of a probe: its loss curve, its findings, and its problems in words (empty if there are none)."""

    name: str
    losses: tuple[float, ...]
    found: dict[str, Any]
    amiss: tuple[str, ...] = ()
    rates: tuple[float, ...] = ()

    def record(self) -> dict[str, Any]:
        """For a file."""
        return {
            "name": self.name,
            "losses": [loss if isfinite(loss) else None for loss in self.losses],
            "rates": list(self.rates),
            "found": self.found,
            "amiss": list(self.amiss),
        }


@dataclass(eq=False)
class Bench:
    """A model on its device with an optimiser, and the rows it would be trained on. Every probe starts over."""

    model_and_optimizer: ModelAndOptimizer
    feed: Feed
    plan: Plan
    clip: float | None
    _first: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._first = {name: p.detach().clone() for name, p in self.model_and_optimizer.names.items()}

    def anew(self) -> None:
        """The weights as they were built, and an optimiser that has made no step."""
        with torch.no_grad():
            for name, p in self.model_and_optimizer.names.items():
                p.copy_(self._first[name])
        self.model_and_optimizer.optimizer.state.clear()

    def step(self, batches: Sequence[MicroBatch], rate: float) -> tuple[float, float]:
        """Loss before an update, and the gradient's norm."""
        sums, norm = self.model_and_optimizer.gradient(batches, _nothing)
        figures = figures_of(sums, batches, self.plan.datasets, self.model_and_optimizer.processes)
        self.model_and_optimizer.set_rate(rate, 0.0)
        self.model_and_optimizer.update(norm, self.clip)
        return float(figures["loss"]), float(norm)

    def steps(self) -> Iterator[tuple[MicroBatch, ...]]:
        """The plan's steps in their order, and again from the first."""
        from obelics_pipeline.training.train.state.cursor import row_order

        while True:
            for _, batches in self.feed.steps(row_order(self.plan.n_rows, ()), 0):
                yield batches

    def some(self, documents: int) -> tuple[MicroBatch, ...]:
        """Rows of as many documents, or a few more where they stand together in a row."""
        seen: set[int] = set()
        rows: list[int] = []
        for number in range(self.plan.n_rows):
            if len(seen) >= documents:
                break
            rows.append(number)
            seen |= {span.document for span in self.plan.row(number).spans}
        return self.feed.rows(tuple(rows))


def overfit(bench: Bench, rate: float, steps: int = 100, documents: int = 8, learned: float = LEARNED) -> Probed:
    """The same documents again and again: a loss that does not fall to a share of the first one is a bug, not data."""
    bench.anew()
    batches = bench.some(documents)
    losses: list[float] = []
    while len(losses) < steps and (not losses or losses[-1] > learned * losses[0]):
        losses.append(bench.step(batches, rate)[0])
    found = {"documents": documents, "first": losses[0], "last": losses[-1], "steps": len(losses), "wanted": learned}
    fine = losses[-1] <= learned * losses[0]
    said = f"{documents} documents are not learned: loss {losses[0]:.3f} became {losses[-1]:.3f} in {steps} steps"
    return Probed("overfit", tuple(losses), found, () if fine else (said,))


def rate_range(bench: Bench, steps: int = 60, low: float = LOWEST, high: float = HIGHEST) -> Probed:
    """A learning rate that grows by the same factor at each step (Smith 2015), until the loss breaks.

    `found["highest"]` is the last rate before it did; the half of it or less is where a run should begin.
    """
    bench.anew()
    losses: list[float] = []
    rates: list[float] = []
    for number, batches in zip(range(steps), bench.steps(), strict=False):
        rates.append(low * (high / low) ** (number / max(1, steps - 1)))
        losses.append(bench.step(batches, rates[-1])[0])
        if not isfinite(losses[-1]) or losses[-1] > EDGE * min(losses):
            break
    broke = not isfinite(losses[-1]) or losses[-1] > EDGE * min(losses)
    highest = rates[-2] if broke and len(rates) > 1 else rates[-1]
    best = rates[losses.index(min(loss for loss in losses if isfinite(loss)))]
    return Probed(
        "range", tuple(losses), {"highest": highest, "lowest_loss_at": best, "broke": broke}, (), tuple(rates)
    )


def stability(bench: Bench, rate_of: Callable[[int], float], steps: int = 50) -> Probed:
    """The first steps as they would be: features of a size that new layers are made for, no leap, a loss that falls."""
    bench.anew()
    model = bench.model_and_optimizer.model
    monitor = ActivationMonitor(model, {"vision": (0, "vision")}, bench.model_and_optimizer.processes.device)
    losses, norms, features = [], [], []
    try:
        for number, batches in zip(range(1, steps + 1), bench.steps(), strict=False):
            monitor.start()
            loss, norm = bench.step(batches, rate_of(number))
            seen = monitor.read().get("0.vision")
            losses.append(loss)
            norms.append(norm)
            if seen is not None:
                features.append(seen.rms)
    finally:
        monitor.close()
    rms, usual = median(features) if features else None, median(norms)
    found = {"features_rms": rms, "grad_norm": usual, "grad_norm_highest": max(norms)}
    return Probed("stability", tuple(losses), found, tuple(_amiss(losses, norms, usual, rms)))


def _amiss(losses: Sequence[float], norms: Sequence[float], usual: float, rms: float | None) -> Iterator[str]:
    if not all(map(isfinite, (*losses, *norms))):
        yield "a loss or a gradient is no number"
        return
    if rms is not None and not FEATURES[0] <= rms <= FEATURES[1]:
        yield f"the vision tower's features have the size {rms:.3g}, usual are {FEATURES[0]} to {FEATURES[1]}"
    if max(norms) > CALM * usual:
        yield f"the gradient leaps to {max(norms) / usual:.0f} times its median"
    if max(losses) > EDGE * losses[0]:
        yield f"the loss leaps from {losses[0]:.3f} to {max(losses):.3f}: a lower rate, or a longer warm-up?"
    part = max(1, len(losses) // 5)
    if len(losses) >= 10 and fmean(losses[-part:]) > fmean(losses[:part]):
        yield f"the loss rises: {fmean(losses[:part]):.3f} became {fmean(losses[-part:]):.3f}"


def _nothing() -> None:
    """Between micro-batches."""
