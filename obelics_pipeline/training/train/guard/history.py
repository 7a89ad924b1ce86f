"""What the guard has done so far. It is not rolled back with the model: budgets and escalation rest on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any

SETTLED = ("hardware", "learning_rate")
"""Reasons whose cause is gone with the rollback: they do not escalate."""


@dataclass(frozen=True)
class Rollback:
    """One of them."""

    step: int
    """At whose end it was decided."""
    to_step: int
    """The checkpoint it went back to."""
    factor: float
    """On the learning rate."""
    cause: str
    """spike, divergence, nonfinite, hardware or learning_rate."""

    @property
    def distance(self) -> int:
        """Steps that were lost."""
        return self.step - self.to_step


@dataclass
class History:
    """Rollbacks, oldest first, and the steps whose update was skipped."""

    rollbacks: list[Rollback] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Steps that were computed in vain."""
        return sum(r.distance for r in self.rollbacks) + len(self.skipped)

    @property
    def factor(self) -> float:
        """Product of the guard's factors for being too fast."""
        return prod(r.factor for r in self.rollbacks if r.cause not in SETTLED)

    def late(self, step: int, within: int) -> list[Rollback]:
        """Those that escalate one at this step."""
        return [r for r in self.rollbacks if r.cause not in SETTLED and abs(step - r.step) <= within]

    def state(self) -> dict[str, Any]:
        """JSON values."""
        return {"rollbacks": [asdict(r) for r in self.rollbacks], "skipped": list(self.skipped)}

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> History:
        """As `state` gave it."""
        return cls([Rollback(**r) for r in state["rollbacks"]], list(state["skipped"]))

    @classmethod
    def from_ledger(cls, entries: Iterable[Mapping[str, Any]]) -> History:
        """The history that a ledger records, which is newer than that of a checkpoint. Entries that were undone do not
        count.
        """
        entries = list(entries)
        undone = {e["of"] for e in entries if e["kind"] == "undo"}
        entries = [e for e in entries if e.get("number") not in undone]
        return cls(
            [
                Rollback(
                    int(e["step"]), int(e["to_step"]), float(e.get("lr_factor") or 1.0), str(e.get("cause") or "spike")
                )
                for e in entries
                if e["kind"] == "rollback"
            ],
            [int(e["step"]) for e in entries if e["kind"] == "skip_update"],
        )
