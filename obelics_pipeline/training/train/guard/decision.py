"""What the guard wants done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from obelics_pipeline.training.train.guard.alarm import Alarm


@dataclass(frozen=True)
class Decision:
    """An answer to one observation; `evidence` and `why` go into the ledger with it."""

    skip: bool = False
    """Before the step: drop the gradients, leave weights and moments as they are."""
    action: Literal["none", "wait", "rollback", "stop"] = "none"
    """After the step. "wait" is said once, when a spike begins."""
    why: str = ""
    """One line for a person; not empty where something is done, or where a spike has returned."""
    alarms: tuple[Alarm, ...] = ()
    """All of this step (of `before_step` only, or they would be recorded twice)."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """JSON values."""
    cause: str = ""
    """Of a rollback: spike, divergence, nonfinite, hardware or learning_rate."""
    to_before_step: int | None = None
    """Of a rollback: the checkpoint is the last one of a step before this."""
    lr_factor: float = 1.0
    """Of a rollback: multiplies the learning rate from the checkpoint on."""
    skip_rows: tuple[tuple[int, int], ...] = ()
    """Of a rollback: rows of the plan, [start, stop), not to be read again."""
    deny: tuple[str, ...] = ()
    """Ranks or GPUs not to be used again."""

    def entry(self) -> dict[str, Any]:
        """The ledger entry of a rollback, from which `History.from_ledger` is made."""
        return {
            "cause": self.cause,
            "lr_factor": self.lr_factor,
            "rows": [list(r) for r in self.skip_rows],
            "deny": list(self.deny),
            "why": self.why,
            "evidence": dict(self.evidence),
        }
