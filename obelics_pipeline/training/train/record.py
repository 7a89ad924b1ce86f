"""What a training writes down as it happens: metrics, accounts and the ledger. Only the first process has a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.training.train.accounts import AccountWriter
from obelics_pipeline.training.train.figures import as_json
from obelics_pipeline.training.train.guard.alarm import EVENTS
from obelics_pipeline.training.train.guard.decision import Decision
from obelics_pipeline.training.train.guard.observation import Observation
from obelics_pipeline.training.train.journal import Journal
from obelics_pipeline.training.train.state.entries import Entry
from obelics_pipeline.training.train.state.ledger import Ledger


@dataclass(eq=False)
class Record:
    """Of one process and attempt. `metrics` and `ledger` are None in all processes but the first."""

    attempt: int
    accounts: AccountWriter
    metrics: Journal | None = None
    ledger: Ledger | None = None

    def news(self, known: int) -> Sequence[Entry]:
        """Entries of the ledger after the first `known`; empty where there is no ledger."""
        if self.ledger is None:
            return ()
        self.ledger.refresh()
        return self.ledger.entries[known:]

    def account(self, step: int, columns: Mapping[str, Any]) -> None:
        """The documents of a step."""
        self.accounts.add(step, columns)

    def step(self, line: Mapping[str, Any], before: Decision, seen: Observation) -> None:
        """A step's figures; its new alarms, and whether its update was left out."""
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
        """What the guard wants after a step; a rollback is written by whoever does it."""
        if after.why and after.action in ("none", "wait"):
            self.write("wait", seen.step, after.why, after.evidence)
        if after.action != "none":
            self.accounts.flush()

    def write(
        self, kind: str, step: int, why: str = "", evidence: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        """An entry of the ledger, in the first process."""
        if self.ledger is not None:
            self.ledger.append(kind, attempt=self.attempt, step=step, why=why, evidence=dict(evidence or {}), **more)
