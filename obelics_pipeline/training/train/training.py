"""A whole training: begun or gone on with, brought back where the guard wants it, until it is done."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.training.plan.plan_file import Plan
from obelics_pipeline.training.train.config import TrainConfig
from obelics_pipeline.training.train.document_losses import DocumentLossWriter
from obelics_pipeline.training.train.feed import Feed
from obelics_pipeline.training.train.figures import as_json
from obelics_pipeline.training.train.folder import TrainingFolder
from obelics_pipeline.training.train.guard.guard import Guard
from obelics_pipeline.training.train.guard.history import History
from obelics_pipeline.training.train.guard.progress import no_progress
from obelics_pipeline.training.train.health.exit_reason import exit_reason
from obelics_pipeline.training.train.instruments import Instruments
from obelics_pipeline.training.train.journal import Journal, read_journal
from obelics_pipeline.training.train.keeping import Keeping
from obelics_pipeline.training.train.loop import Asked, Done, GoBack, Loop
from obelics_pipeline.training.train.machines import Machines
from obelics_pipeline.training.train.model_and_optimizer import ModelAndOptimizer
from obelics_pipeline.training.train.position import Position
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.record import Record
from obelics_pipeline.training.train.state.certificate import Certificate, certificate
from obelics_pipeline.training.train.state.entries import Entry, Exit, Stop
from obelics_pipeline.training.train.state.ledger import Ledger, last_attempt, revert_trials
from obelics_pipeline.training.train.state.schedule import ScheduleSection

Say = Callable[[str], None]


# Of the config: what changes no figure, so that a training may go on with another value.
MAY_CHANGE = (
    "threads",
    "loader.*",
    "checkpoint.*",
    "evaluation.*",
    "record.account_steps",
    "record.say_steps",
    "health.*",
    "steps",
)

JUDGED = {"loss": 1.0, "image_gain": -1.0}  # of an evaluation, and whether lower or higher is better


@dataclass(eq=False)
class Training:
    """Of one process; the first has the ledger and the journals. `about` describes its machines."""

    config: TrainConfig
    plan: Plan
    folder: TrainingFolder
    processes: Processes
    model_and_optimizer: ModelAndOptimizer
    feed: Feed
    keeping: Keeping
    instruments: Instruments
    machines: Machines
    schedule: ScheduleSection
    planned_steps: int
    about: Mapping[str, Any]
    ledger: Ledger | None
    metrics: Journal | None
    evaluations: Journal | None
    say: Say
    _position: Position = field(default_factory=Position)

    def run(self, step: int | None = None) -> Done:
        """Go on from the newest checkpoint (or that of a step), or begin; train until there is nothing more to do.

        Raises Stopped where the guard gives up, and UserError where it cannot go on as it was.
        """
        position, guard = self._begin(step)
        try:
            while True:
                end = self._attempt(position, guard)
                if isinstance(end, Done):
                    self._finish(end)
                    return end
                if isinstance(end, Asked):
                    self._append("exit", self._position, reason=end.why)
                    raise Stopped(f"step {self._position.step}: {end.why}; run the same command again to continue so")
                position, guard = self._go_back(end, guard)
        except BaseException as error:
            self._left(error)
            raise

    def _attempt(self, position: Position, guard: Guard) -> GoBack | Asked | Done:
        document_losses = DocumentLossWriter(
            self.folder.path, position.attempt, self.processes.rank, self.config.record.account_steps
        )
        record = Record(position.attempt, document_losses, self.metrics, self.ledger)
        loop = Loop(
            config=self.config,
            plan=self.plan,
            processes=self.processes,
            model_and_optimizer=self.model_and_optimizer,
            feed=self.feed,
            guard=guard,
            record=record,
            position=position,
            schedule=self.schedule,
            instruments=self.instruments,
            machines=self.machines,
            checkpoint=lambda: self._checkpoint(loop.position, guard, document_losses),
            evaluate=lambda: guard.evaluated(loop.position.step, self._evaluate(loop.position)),
            say=self.say,
        )
        try:
            end = loop.run()
        finally:
            document_losses.flush()
            self._position = loop.position
        done = isinstance(end, Asked) or (isinstance(end, Done) and not end.stopped)
        if done and loop.position.step % self.config.checkpoint.every_steps:
            self._checkpoint(loop.position, guard, document_losses)
        return end

    def _begin(self, step: int | None) -> tuple[Position, Guard]:
        ledger = self.ledger
        kept = self.processes.agreed(self.keeping.last(ledger, step) if ledger else None)
        attempt = self.processes.agreed(last_attempt(ledger.entries) if ledger else 0) + 1
        if kept is None:
            position, guard = Position(attempt=attempt), self._guard(None)
            self._append("start", position, why="the beginning", evidence=self.about)
            self._checkpoint(position, guard)
            return position, guard
        position, state, loaded = self.keeping.read(kept, attempt)
        self.instruments.load(loaded.saved.guard["noise"])
        if ledger is not None:
            now = self.keeping.now(kept, position, ledger, self.schedule, MAY_CHANGE)
            found = certificate(loaded, now)
            for line in str(found).splitlines():
                self.say(line)
            refused = _refused(found)
        else:
            refused = ""
        if refused := self.processes.agreed(refused):
            raise UserError(refused)
        if self.processes.first:
            write_bytes(self.folder.config, dump_config(self.config).encode())
        about = {**self.about, "before": _ended(ledger.entries) if ledger is not None else ""}
        self._append(
            "resume", position, parent=kept.attempt, from_step=kept.step, why=f"from {kept.path.name}", evidence=about
        )
        self.machines.written(position.step)
        guard = self._guard(state)
        self._tell(guard, position)
        return position, guard

    def _guard(self, state: Mapping[str, Any] | None) -> Guard:
        history = None
        if self.ledger is not None and state is not None:
            history = History.from_ledger([entry.model_dump(mode="json") for entry in self.ledger.entries])
        return Guard(self.config.guard, state, planned_steps=self.planned_steps, history=history)

    def _go_back(self, end: GoBack, guard: Guard) -> tuple[Position, Guard]:
        """To the checkpoint that the guard wants, as a new attempt; what it decided goes into the ledger."""
        decision, seen, ledger = end.decision, end.seen, self.ledger
        before = decision.to_before_step or seen.step
        trial = revert_trials(ledger, attempt=end.attempt, step=seen.step, why=decision.why) if ledger else None
        before = min(before, self.processes.agreed(trial) or before)
        kept = self.processes.agreed(self.keeping.before(ledger, before) if ledger else None)
        assert kept is not None, "the first process has a ledger"
        attempt = self.processes.agreed(last_attempt(ledger.entries) if ledger else 0) + 1
        position, state, loaded = self.keeping.read(kept, attempt)
        self.instruments.load(loaded.saved.guard["noise"])
        entry = decision.entry()
        self._append(
            "rollback",
            replace(position, step=seen.step),
            parent=end.attempt,
            from_step=kept.step,
            to_step=kept.step,
            cursor=position.cursor,
            why=decision.why,
            evidence=entry | {"step": seen.step},
        )
        for start, stop in decision.skip_rows:
            self._append("skip_rows", position, start=start, stop=stop, why=decision.why)
        if decision.lr_factor != 1:
            self._append("lr", position, factor=decision.lr_factor, at=position.step + 1, why=decision.why)
        if self.processes.first:  # the only one whose guard sees the steps
            guard.rolled_back(decision, kept.step, state)
        self._tell(guard, position)
        self.machines.written(position.step)
        self.say(f"step {seen.step}: {decision.why}; back to step {kept.step}")
        return position, guard

    def _checkpoint(self, position: Position, guard: Guard, document_losses: DocumentLossWriter | None = None) -> None:
        if document_losses is not None:
            document_losses.flush()
        self.machines.heartbeat.beat(position.step, "checkpoint")
        self.keeping.write(position, guard.state(), self.instruments.state())
        self._append("checkpoint", position, name=f"step-{position.step:08d}")
        if position.step:
            guard.evaluated(position.step, self._evaluate(position))
        if self.ledger is not None:
            open_since = [int(times[0]) for times in guard.panel.open.values()]
            self.keeping.tidy(self.ledger, open_since)
        self.processes.wait()

    def _evaluate(self, position: Position) -> dict[str, float]:
        """Held-out loss by data set."""
        held_out = self.plan.held_out
        count = min(self.config.evaluation.rows, held_out.n_rows if held_out else 0)
        if not count or held_out is None:
            return {}
        self.machines.heartbeat.beat(position.step, "evaluation")
        found = self.model_and_optimizer.evaluate(self.feed.held_out(held_out, count), self.plan.datasets)
        if self.evaluations is not None:
            self.evaluations.write(as_json({"attempt": position.attempt, "step": position.step, "datasets": found}))
            self._judge(position)
        self._append("evaluation", position)
        for name, views in found.items():
            gain = f"{views['image_gain']:+.4f}"
            self.say(f"step {position.step:,}: held out of {name}: {views['loss']:.3f} nats a token, image gain {gain}")
        return {name: views["loss"] for name, views in found.items()}

    def _tell(self, guard: Guard, position: Position) -> None:
        """Tell a guard that was read from a checkpoint what the evaluation came to, which was made after it."""
        if self.evaluations is None:
            return
        found = [line for line in read_journal(self.folder.evaluations) if line["step"] == position.step]
        if found:
            losses = {name: views["loss"] for name, views in found[-1]["datasets"].items()}
            guard.evaluated(position.step, {name: loss for name, loss in losses.items() if loss is not None})

    def _judge(self, position: Position) -> None:
        """Write an event where nothing that is evaluated has got better for long: once, and again after the next best.

        Of each step the last evaluation counts; those of steps that were rolled back are not there any more.
        """
        last = {line["step"]: line["datasets"] for line in read_journal(self.folder.evaluations)}
        found = [
            {f"{name} {view}": sign * views[view] for name, views in datasets.items() for view, sign in JUDGED.items()}
            for step, datasets in sorted(last.items())
            if step <= position.step
        ]
        patience = self.config.evaluation.no_progress
        if no_progress(found, patience) and not no_progress(found[:-1], patience):
            why = f"nothing that is evaluated has a new best in {patience} evaluations"
            self._append("no_progress", position, why=why)
            self.say(f"step {position.step:,}: {why}")

    def _left(self, error: BaseException) -> None:
        """Write why the process ends, where nothing was written yet."""
        if self.ledger is None or (self.ledger.entries[-1:] and self.ledger.entries[-1].kind in ("stop", "exit")):
            return
        if isinstance(error, KeyboardInterrupt):
            reason = "interrupted"
        elif isinstance(error, UserError | Stopped):
            reason = str(error)
        else:
            reason = exit_reason(traceback.format_exception(error))
        self._append("exit", self._position, reason=reason)

    def _finish(self, end: Done) -> None:
        self._append("stop", self._position, reason=end.reason)
        if end.stopped:
            raise Stopped(f"the guard has stopped the training at step {self._position.step}: {end.reason}")
        self.keeping.write_model()

    def _append(self, kind: str, position: Position, **more: Any) -> None:
        if self.ledger is not None:
            self.ledger.append(kind, attempt=position.attempt, step=position.step, **more)


def _ended(entries: Sequence[Entry]) -> str:
    """Why the last process that trained has ended, as far as anybody knows."""
    for entry in reversed(entries):
        if isinstance(entry, Exit | Stop):
            return entry.reason
        if entry.kind in ("start", "resume"):
            break
    return "without a word: killed, or its machine is gone"


def _refused(found: Certificate) -> str:
    try:
        found.refuse()
    except UserError as error:
        return str(error)
    return ""
