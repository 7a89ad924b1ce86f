"""Checkpoints of a training as the loop wants them: written, read, and the old ones removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.saved import save_trained
from obelics_pipeline.training.train.config import TrainConfig
from obelics_pipeline.training.train.folder import TrainingFolder
from obelics_pipeline.training.train.model_and_optimizer import ModelAndOptimizer
from obelics_pipeline.training.train.position import Position
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.state.certificate import Now
from obelics_pipeline.training.train.state.checkpoint import load, save
from obelics_pipeline.training.train.state.entries import Rollback, SkipUpdate
from obelics_pipeline.training.train.state.head import recorded
from obelics_pipeline.training.train.state.kept import Kept, before, retain, to_resume
from obelics_pipeline.training.train.state.ledger import Ledger
from obelics_pipeline.training.train.state.lineage import Lineage
from obelics_pipeline.training.train.state.saved import Loaded, Progress, versions
from obelics_pipeline.training.train.state.schedule import ScheduleSection


@dataclass(eq=False)
class Keeping:
    """Of one process. `frozen` names the weights that are not trained, and are in no checkpoint."""

    config: TrainConfig
    folder: TrainingFolder
    plan_id: str
    frozen: str
    processes: Processes
    model_and_optimizer: ModelAndOptimizer
    unfrozen: tuple[str, ...] = ()

    def write(self, position: Position, guard: Mapping[str, Any], noise: Mapping[str, Any]) -> None:
        """Write the checkpoint of a position. All processes call it. Raises UserError, OSError."""
        progress = Progress(
            step=position.step,
            cursor=position.cursor,
            attempt=position.attempt,
            skipped_updates=position.skipped,
            lr=position.rate,
            weight_decay=position.decay,
            seed=self.config.seed,
            plan_id=self.plan_id,
            config=self.config.model_dump(mode="json"),
            versions=versions(),
            frozen=self.frozen,
            guard={"guard": dict(guard), "clipped": position.clipped, "noise": dict(noise)},
        )
        run = self.folder.path if self.processes.first else None
        save(
            self.folder.checkpoints,
            progress,
            self.model_and_optimizer.names,
            self.model_and_optimizer.optimizer,
            run=run,
            late=self.unfrozen,
        ).wait()

    def tidy(self, ledger: Ledger, alarms: Sequence[int]) -> None:
        """Remove checkpoints that need not stay. One process calls it.

        The last before the first step of open `alarms` does, and the last before the newest act of the guard, by whose
        weights explain-spike replays documents.
        """
        kept = self.config.checkpoint
        lineage = Lineage(ledger.entries)
        acts = [entry.step for entry in ledger.entries if isinstance(entry, SkipUpdate | Rollback)]
        signs = [*([min(alarms)] if alarms else []), *acts[-1:]]
        retain(self.folder.checkpoints, lineage, last=kept.keep_last, every=kept.keep_every, signs=signs)

    def last(self, ledger: Ledger, step: int | None = None) -> Kept | None:
        """The checkpoint to go on from: the newest, or that of a step. None if no checkpoint exists yet."""
        return to_resume(self.folder.checkpoints, Lineage(ledger.entries), step)

    def before(self, ledger: Ledger, step: int) -> Kept:
        """The newest of a step before this one. Raises UserError where none was kept."""
        found = before(self.folder.checkpoints, Lineage(ledger.entries), step)
        if found is None:
            raise UserError(f"{self.folder.checkpoints}: no checkpoint of a step before {step} was kept; start over")
        return found

    def now(
        self, kept: Kept, position: Position, ledger: Ledger, schedule: ScheduleSection, may_change: Sequence[str]
    ) -> Now:
        """What is about to train, for the certificate."""
        return Now(
            checkpoint=kept.path.name,
            cursor=position.cursor,
            seed=self.config.seed,
            plan_id=self.plan_id,
            config=self.config.model_dump(mode="json"),
            versions=versions(),
            schedule=schedule,
            entries=ledger.entries,
            ranks=self.processes.world,
            frozen=self.frozen,
            ledger_bytes=ledger.path.stat().st_size,
            recorded=recorded(self.folder.metrics, kept.attempt, kept.step),
            may_change=may_change,
        )

    def write_model(self) -> None:
        """Write what was trained, for others to load. All processes call it."""
        save_trained(self.model_and_optimizer.model, self.folder.model, writes=self.processes.first)

    def read(self, kept: Kept, attempt: int) -> tuple[Position, Mapping[str, Any], Loaded]:
        """Restore a checkpoint. Returns the position for a new attempt and the guard's state. All processes call it."""
        loaded = load(
            kept.path, self.model_and_optimizer.names, self.model_and_optimizer.optimizer, fresh=self.unfrozen
        )
        saved = loaded.saved
        position = Position(
            attempt=attempt,
            step=saved.step,
            cursor=saved.cursor,
            clipped=int(saved.guard["clipped"]),
            skipped=saved.skipped_updates,
            rate=saved.lr,
            decay=saved.weight_decay or 0.0,
        )
        return position, saved.guard["guard"], loaded
