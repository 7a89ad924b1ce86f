"""One sign of trouble, as it goes into the ledger."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

JUMPS = ("loss_jump", "logit_collapse", "log_z_jump")
"""Alarms that open a spike: what happens to the logits may hide in the noise of the loss."""
RISES = ("grad_drift", "activation_drift", "activation_jump", "grad_jump", "log_z_drift")
"""Alarms that make a rising loss a divergence."""
EVENTS = ("plateau",)
"""Entries of their own in the ledger, for a person to decide: no alarms."""


@dataclass(frozen=True)
class Alarm:
    """An abnormal signal: its value, how far it is from the usual, and since which step."""

    kind: str
    """nonfinite, loss_jump, loss_drift, loss_far, document, grad_jump, grad_far, grad_drift, grad_zero,
    activation_jump, activation_drift, activation_far, logit_collapse, log_z_jump, log_z_drift, too_low, one_token,
    clip_frequency, learning_rate, hardware; or plateau, which is written as an entry of its own."""
    signal: str
    """Which number: "loss:NAME OF A DATA SET", "loss", "grad_norm", "activation:LAYER.KIND", ..."""
    value: float
    """As it was measured, in its own unit."""
    z: float
    """Robust deviations from what was expected; 0 where that makes no sense."""
    since: int
    """The first step of this alarm."""

    def entry(self) -> dict[str, Any]:
        """For the ledger, kind "alarm": JSON has no NaN and no infinity."""
        return {k: (v if not isinstance(v, float) or isfinite(v) else None) for k, v in asdict(self).items()} | {
            "kind": "alarm",
            "alarm": self.kind,
        }
