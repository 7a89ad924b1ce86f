"""The loop: step after step through a plan, watched by the guard, written down as it happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from obelics_pipeline.training.plan.plan_file import Plan
from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.config import TrainConfig
from obelics_pipeline.training.train.feed import Feed
from obelics_pipeline.training.train.figures import figures_of
from obelics_pipeline.training.train.guard.decision import Decision
from obelics_pipeline.training.train.guard.guard import Guard
from obelics_pipeline.training.train.guard.observation import Observation
from obelics_pipeline.training.train.instruments import Instruments
from obelics_pipeline.training.train.machines import Machines
from obelics_pipeline.training.train.model_and_optimizer import ModelAndOptimizer
from obelics_pipeline.training.train.operations import Operations, peak_of
from obelics_pipeline.training.train.passes import Passes
from obelics_pipeline.training.train.position import Position
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.record import Record
from obelics_pipeline.training.train.state import schedule
from obelics_pipeline.training.train.state.cursor import RowOrder, StepRows, row_order
from obelics_pipeline.training.train.state.entries import ConfigChange, Entry, ResetMoments, Rollback, Unfreeze
from obelics_pipeline.training.train.state.ledger import Holding, holdings
from obelics_pipeline.training.train.sums import loss_rows


@dataclass(frozen=True)
class GoBack:
    """The guard wants an earlier checkpoint."""

    decision: Decision
    seen: Observation
    attempt: int


@dataclass(frozen=True)
class Asked:
    """A person asks, by an entry of the ledger, for something that needs a new start; `why` says what."""

    why: str


@dataclass(frozen=True)
class Done:
    """There is nothing more to do; `reason` is why, `stopped` whether by the guard."""

    reason: str
    stopped: bool = False


@dataclass(eq=False)
class Loop:
    """One process of a training. The first of them decides and writes, and tells the others.

    `checkpoint` writes one of where the training is, `evaluate` tells the guard of held-out rows; `schedule` knows its
    last step.
    """

    config: TrainConfig
    plan: Plan
    processes: Processes
    model_and_optimizer: ModelAndOptimizer
    feed: Feed
    guard: Guard
    record: Record
    position: Position
    schedule: schedule.ScheduleSection
    instruments: Instruments
    machines: Machines
    checkpoint: Callable[[], None]
    evaluate: Callable[[], None]
    say: Callable[[str], None]
    _entries: tuple[Entry, ...] = ()
    _changes: tuple[Holding, ...] = ()
    _order: RowOrder = field(default_factory=lambda: RowOrder(0))
    _passes: Passes = field(init=False)
    _operations: Operations = field(init=False)

    def __post_init__(self) -> None:
        self._passes = Passes(self.plan)
        self._operations = Operations(self.model_and_optimizer.model)
        self._peak = peak_of(self.processes.device)

    def run(self) -> GoBack | Asked | Done:
        """Train until the end, or until the guard wants to go back, or a person asks for what needs a new beginning."""
        self._hear()
        while True:
            end = self._feed_until_changed()
            if end is not None:
                return end

    def _feed_until_changed(self) -> GoBack | Asked | Done | None:
        """None where the order of rows has changed, and what was read ahead is of no use."""
        steps = self.feed.steps(self._order, self.position.cursor)
        for rows, batches, waited in _timed(steps):
            if self.config.steps is not None and self.position.step >= self.config.steps:
                return Done(f"{self.config.steps} steps, as config.steps says")
            end = self._step(rows, batches, waited)
            if end is not None:
                return end
            if self.position.step % self.config.checkpoint.every_steps == 0:
                self.checkpoint()
            known = len(self._entries)
            if self._hear():
                return None
            asked = self._asked(known)
            if asked is not None:
                return asked
        return Done("the plan is at its end")

    def _hear(self) -> bool:
        """Learn what was written to the ledger; whether the rows to come are others for it."""
        new = self.processes.agreed(self.record.news(len(self._entries)))
        if not new:
            return False
        self._entries += tuple(new)
        self._changes = holdings(self._entries)
        before, self._order = self._order, row_order(self.plan.n_rows, self._changes)
        return before != self._order

    def _step(self, rows: StepRows, batches: Sequence[MicroBatch], waited: float) -> GoBack | Done | None:
        began = time.perf_counter()
        step = self.position.step + 1
        hardware = self.machines.look(step)
        self._reset_moments(step)
        rate = schedule.lr(step, self.schedule, self._changes)
        decay = schedule.weight_decay(step, self.schedule, self._changes)
        clip = schedule.clip(step, self.config.optimizer.clip, self._changes)
        self.model_and_optimizer.set_rate(rate, decay)
        self.instruments.start(step)
        sums, norm_on_device = self.model_and_optimizer.gradient(batches, self.instruments.first_micro_batch)
        own = time.perf_counter() - began + waited
        figures = figures_of(sums, batches, self.plan.datasets, self.processes)
        for name, passes in self._passes.at(rows.next_cursor).items():
            figures["datasets"].get(name, {})["epoch"] = passes
        norm = float(norm_on_device)
        figures |= self.instruments.read(norm, figures["targets"], figures.pop("first_targets"))
        figures |= {
            "step": step,
            "cursor": rows.cursor,
            "rows": rows.next_cursor - rows.cursor,
            **self._rates(step, rate),
            "grad_norm": norm,
            "clip": clip,
            "clipped": clip is not None and norm > clip,
        }
        hardware += self.machines.still(step)
        seen = replace(Observation.from_metrics(figures), hardware=hardware)
        before = self.processes.agreed(self.guard.before_step(seen) if self.processes.first else Decision())
        if not before.skip:
            self.instruments.before_update()
            self.model_and_optimizer.update(norm_on_device, clip)
            figures |= self.instruments.after_update()
        self.machines.written(step, rate, decay)
        self.position = self.position.after(rows.next_cursor, rate, decay, clipped=seen.clipped, skipped=before.skip)
        self.record.add_losses(step, loss_rows(batches, sums.spans))
        took = time.perf_counter() - began
        operations = self._operations.of([batch.packed for batch in batches]) / (took + waited)
        figures |= {
            "attempt": self.position.attempt,
            "clip_share": self.position.clipped / step,
            "applied": not before.skip,
            "time": {"step": took, "data": waited},
            "tokens_per_second": figures["tokens"] / (took + waited),
            "images_per_second": figures["images"] / (took + waited),
            "operations_per_second": operations,
            "mfu": operations / self._peak if self._peak else None,
        }
        self.record.step(figures, before, seen)
        if step % self.config.record.say_steps == 0:
            self.say(
                f"step {step:,}: {figures['loss']:.3f} nats a token, gradient {norm:.3g}, rate {rate:.3g}, "
                f"{figures['tokens_per_second']:,.0f} tokens/s"
            )
        for slow in self.machines.times(own):
            self.record.write("wait", step, slow)
        after = self.processes.agreed(self.guard.after_step(seen) if self.processes.first else Decision())
        self.record.decided(after, seen)
        if after.action == "wait":
            self.evaluate()  # is it the batch, or the model?
        if after.action == "rollback":
            return GoBack(after, seen, self.position.attempt)
        return Done(after.why, stopped=True) if after.action == "stop" else None

    def _rates(self, step: int, expected: float) -> dict[str, float | None]:
        """What the guard judges the learning rate by: the optimiser's own, and what it is to be."""
        scheduled = schedule.lr(step, self.schedule)
        changed = any(
            isinstance(holding.entry, ConfigChange) and holding.entry.key.startswith("schedule.")
            for holding in self._changes
        )
        return {
            "lr": self.model_and_optimizer.rate,
            "lr_factor": expected / scheduled if scheduled else 1.0,
            "lr_expected": expected,
            "lr_before": None if changed or step == 1 else schedule.lr(step - 1, self.schedule),
        }

    def _asked(self, known: int) -> Asked | None:
        """What the entries after the first `known` ask for, by others than this attempt."""
        for entry in self._entries[known:]:
            if isinstance(entry, Rollback) and entry.attempt > self.position.attempt:
                return Asked(f"rollback to step {entry.to_step}: {entry.why}")
        for holding in self._changes:
            if isinstance(holding.entry, Unfreeze) and holding.until is None and holding.at == self.position.step + 1:
                return Asked(f"unfreeze {holding.entry.pattern}")
        return None

    def _reset_moments(self, step: int) -> None:
        for holding in self._changes:
            if isinstance(holding.entry, ResetMoments) and holding.at == step and holding.holds(step):
                self.model_and_optimizer.reset_moments(holding.entry.pattern)


def _timed(
    steps: Iterator[tuple[StepRows, tuple[MicroBatch, ...]]],
) -> Iterator[tuple[StepRows, tuple[MicroBatch, ...], float]]:
    """The same, with the seconds that each was waited for."""
    while True:
        began = time.perf_counter()
        found = next(steps, None)
        if found is None:
            return
        yield *found, time.perf_counter() - began
