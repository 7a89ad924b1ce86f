"""A whole training: begun or gone on with, brought back where the guard wants it, until it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.errors import Stopped
from obelics_pipeline.plan.plan_file import Plan
from obelics_pipeline.train.accounts import AccountWriter
from obelics_pipeline.train.config import TrainConfig
from obelics_pipeline.train.feed import Feed
from obelics_pipeline.train.figures import as_json
from obelics_pipeline.train.folder import TrainingFolder
from obelics_pipeline.train.guard.guard import Guard
from obelics_pipeline.train.guard.history import History
from obelics_pipeline.train.journal import Journal
from obelics_pipeline.train.keeping import Keeping
from obelics_pipeline.train.learner import Learner
from obelics_pipeline.train.loop import Done, GoBack, Loop
from obelics_pipeline.train.place import Place
from obelics_pipeline.train.processes import Processes
from obelics_pipeline.train.record import Record
from obelics_pipeline.train.state.ledger import Ledger, last_attempt
from obelics_pipeline.train.state.schedule import ScheduleSection

Say = Callable[[str], None]


@dataclass(eq=False)
class Training:
    """Of one process; the first has the ledger and the journals."""

    config: TrainConfig
    plan: Plan
    folder: TrainingFolder
    processes: Processes
    learner: Learner
    feed: Feed
    keeping: Keeping
    schedule: ScheduleSection
    planned_steps: int
    ledger: Ledger | None
    metrics: Journal | None
    evaluations: Journal | None
    say: Say

    def run(self, step: int | None = None) -> Done:
        """Go on from the newest checkpoint (or that of a step), or begin; train to the end. Raises Stopped, UserError."""
        place, guard = self._begin(step)
        try:
            while True:
                end = self._attempt(place, guard)
                if isinstance(end, Done):
                    self._finish(end)
                    return end
                place, guard = self._go_back(end, guard)
        except KeyboardInterrupt:
            self._write("exit", reason="interrupted")
            raise

    def _attempt(self, place: Place, guard: Guard) -> GoBack | Done:
        every = self.config.record.account_steps
        accounts = AccountWriter(self.folder.path, place.attempt, self.processes.rank, every)
        record = Record(place.attempt, accounts, self.metrics, self.ledger)
        self._record = record

        def checkpoint() -> None:
            accounts.flush()
            self._checkpoint(loop.place, guard)

        loop = Loop(
            self.config, self.plan, self.processes, self.learner, self.feed, guard, record, place, self.schedule,
            checkpoint,
        )  # fmt: skip
        try:
            end = loop.run()
        finally:
            accounts.flush()
        if isinstance(end, Done) and loop.place.step % self.config.checkpoint.every_steps and not end.stopped:
            checkpoint()
        self._place = loop.place
        return end

    def _begin(self, step: int | None) -> tuple[Place, Guard]:
        entries = self.ledger.entries if self.ledger else ()
        kept = self.processes.agreed(self.keeping.last(self.ledger, step) if self.ledger else None)
        attempt = self.processes.agreed(last_attempt(entries)) + 1
        if kept is None:
            place, guard = Place(attempt=attempt), self._guard(None)
            self._append("start", place, why="the beginning")
            self._checkpoint(place, guard, evaluate=False)
            return place, guard
        place, state, _ = self.keeping.read(kept, attempt)
        self._append("resume", place, parent=kept.attempt, from_step=kept.step, why=f"from {kept.path.name}")
        return place, self._guard(state)

    def _guard(self, state: Mapping[str, Any] | None) -> Guard:
        history = None
        if self.ledger is not None and state is not None:
            history = History.from_ledger([entry.model_dump(mode="json") for entry in self.ledger.entries])
        return Guard(self.config.guard, state, planned_steps=self.planned_steps, history=history)

    def _go_back(self, end: GoBack, guard: Guard) -> tuple[Place, Guard]:
        decision, seen = end.decision, end.seen
        before = decision.to_before_step or seen.step
        kept = self.processes.agreed(self.keeping.before(self.ledger, before) if self.ledger else None)
        assert kept is not None
        attempt = self.processes.agreed(last_attempt(self.ledger.entries) if self.ledger else 0) + 1
        place, state, _ = self.keeping.read(kept, attempt)
        evidence = {**decision.evidence, "cause": decision.cause, "lr_factor": decision.lr_factor}
        self._append(
            "rollback", place, parent=kept.attempt, from_step=kept.step, to_step=kept.step, cursor=place.cursor,
            why=decision.why, evidence=evidence, decided=seen.step,
        )  # fmt: skip
        for start, stop in decision.skip_rows:
            self._append("skip_rows", place, start=start, stop=stop, why=decision.why)
        if decision.lr_factor != 1:
            self._append("lr", place, factor=decision.lr_factor, at=place.step + 1, why=decision.why)
        guard.rolled_back(decision, kept.step, state)
        self.say(f"step {seen.step}: {decision.why}; back to step {kept.step}")
        return place, guard

    def _checkpoint(self, place: Place, guard: Guard, evaluate: bool = True) -> None:
        self.keeping.write(place, guard.state())
        self._append("checkpoint", place, name=f"step-{place.step:08d}")
        if evaluate:
            self._evaluate(place)
        if self.ledger is not None:
            open_since = [int(times[0]) for times in guard.panel.open.values()]
            self.keeping.tidy(self.ledger, min(open_since, default=None))
        self.processes.wait()

    def _evaluate(self, place: Place) -> None:
        held_out = self.plan.held_out
        count = min(self.config.evaluation.rows, held_out.n_rows if held_out else 0)
        if not count or held_out is None:
            return
        found = self.learner.evaluate(self.feed.held_out(held_out, count), self.plan.datasets)
        if self.evaluations is not None:
            self.evaluations.write(as_json({"attempt": place.attempt, "step": place.step, "datasets": found}))
        self._append("evaluation", place)
        for name, views in found.items():
            self.say(
                f"step {place.step}: held out of {name}: loss {views['loss']:.3f}, image gain {views['image_gain']:+.4f}"
            )

    def _finish(self, end: Done) -> None:
        self._append("stop", self._place, reason=end.reason)
        if end.stopped:
            raise Stopped(f"the guard has stopped the training at step {self._place.step}: {end.reason}")

    def _append(self, kind: str, place: Place, **more: Any) -> None:
        if self.ledger is not None:
            self.ledger.append(kind, attempt=place.attempt, step=place.step, **more)

    def _write(self, kind: str, **more: Any) -> None:
        if self.ledger is not None:
            attempt = last_attempt(self.ledger.entries)
            self.ledger.append(kind, attempt=attempt, step=getattr(self, "_place", Place()).step, **more)
