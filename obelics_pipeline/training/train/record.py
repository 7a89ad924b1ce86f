"""What a training records at each step: metrics, losses per document, and in the first process the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.training.train.document_losses import DocumentLossWriter
from obelics_pipeline.training.train.figures import as_json
from obelics_pipeline.training.train.guard.alarm import EVENTS
from obelics_pipeline.training.train.guard.decision import Decision
from obelics_pipeline.training.train.guard.observation import Observation
from obelics_pipeline.training.train.journal import Journal
from obelics_pipeline.training.train.state.entries import Entry
from obelics_pipeline.training.train.state.ledger import Ledger


@dataclass(eq=False)
class Record:
    """The records of one process and attempt. `metrics` and `ledger` are None except in the first process."""

    attempt: int
    document_losses: DocumentLossWriter
    metrics: Journal | None = None
    ledger: Ledger | None = None

    def news(self, known: int) -> Sequence[Entry]:
        """Entries of the ledger after the first `known`; empty where there is no ledger."""
        if self.ledger is None:
            return ()
        self.ledger.refresh()
        return self.ledger.entries[known:]

    def add_losses(self, step: int, columns: Mapping[str, Any]) -> None:
        """Add the losses per document of a step."""
        self.document_losses.add(step, columns)

    def step(self, line: Mapping[str, Any], before: Decision, seen: Observation) -> None:
        """Write the figures of a step, its new alarms, and whether its update was skipped."""
        if self.metrics is None:
            return
        self.metrics.write(as_json(line))
        for alarm in before.alarms:
            said = alarm.entry()
            if alarm.kind in EVENTS:
                self.write(alarm.kind, seen.step, f"{alarm.signal} has not fallen", said)
            elif alarm.since == seen.step:
                evidence, more = {"kind": alarm.kind}, {key: said[key] for key in ("signal", "value", "z", "since")}
                self.write("alarm", seen.step, alarm.kind, evidence, **more)
        if before.skip:
            rows = (seen.cursor, seen.cursor + seen.rows)
            self.write("skip_update", seen.step, before.why, before.evidence, cursor=seen.cursor, rows=rows)

    def decided(self, after: Decision, seen: Observation) -> None:
        """Write what the guard decided after a step. A rollback is written where it is done."""
        if after.why and after.action in ("none", "wait"):
            self.write("wait", seen.step, after.why, after.evidence)
        if after.action != "none":
            self.document_losses.flush()

    def write(
        self, kind: str, step: int, why: str = "", evidence: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        """An entry of the ledger, in the first process."""
        if self.ledger is not None:
            self.ledger.append(kind, attempt=self.attempt, step=step, why=why, evidence=dict(evidence or {}), **more)
