"""What the loop hands to the guard before the optimiser steps. The same on all ranks: everything is reduced first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Any


@dataclass(frozen=True)
class DatasetSigns:
    """One data set's part of a step. Losses in nats per target."""

    loss: float
    targets: int
    log_z: float = nan
    worst: float = nan
    """The highest mean loss of one document's span in the step (spans of at least some 16 targets), where known."""


@dataclass(frozen=True)
class Activation:
    """A group's output on a sampled step."""

    rms: float
    max: float


@dataclass(frozen=True)
class Hardware:
    """A sign of broken hardware that was seen since the step before."""

    kind: str
    """Such as "xid 63", "canary", "weights"."""
    where: str
    """The rank, or the GPU's UUID."""
    corrupts: bool
    """Whether numbers are known to be wrong (a canary that differs), and not only suspected."""
    good_until: int | None = None
    """The last step at whose end all was well, where a check knows it."""


@dataclass(frozen=True)
class Observation:
    """A step's numbers, with its gradients there and its update not yet made."""

    step: int
    cursor: int
    """First row of the step, in the plan."""
    rows: int
    lr: float
    """As the optimiser has it."""
    loss: float
    """Mean nats per target over the global batch."""
    grad_norm: float
    """Before clipping."""
    lr_factor: float = 1.0
    """Product of the recorded interventions at this step."""
    lr_expected: float = nan
    """The schedule's rate of this step, times that product; NaN: not known, and not judged."""
    lr_before: float = nan
    """What the schedule, as it is now and without interventions, says of the step before: it had this rate if the
    schedule is still the same. NaN: not known, or changed on purpose."""
    log_z: float = nan
    log_z_max: float = nan
    clipped: bool = False
    top1_share: float = nan
    """Share of the places at which the commonest predicted token is predicted."""
    images: int = 0
    """Pictures in the step."""
    finite: bool = True
    """False where a gradient, or a part of the loss, is NaN or infinite on any rank."""
    datasets: Mapping[str, DatasetSigns] = field(default_factory=dict)
    activations: Mapping[str, Activation] = field(default_factory=dict)
    """By "layer.kind"; empty where the step is not sampled."""
    gradients: Mapping[str, float] = field(default_factory=dict)
    """Norms by "layer.kind"; empty where the step is not sampled."""
    hardware: tuple[Hardware, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether loss and gradient norm are numbers that one can learn from."""
        return self.finite and isfinite(self.loss) and isfinite(self.grad_norm)

    @classmethod
    def from_metrics(cls, line: Mapping[str, Any]) -> Observation:
        """The observation of a line of metrics.jsonl, to run a guard over a past training."""
        number = _number
        return cls(
            step=int(line["step"]),
            cursor=int(line["cursor"]),
            rows=int(line["rows"]),
            lr=number(line, "lr"),
            loss=number(line, "loss"),
            grad_norm=number(line, "grad_norm"),
            lr_factor=float(line.get("lr_factor") or 1.0),
            lr_expected=number(line, "lr_expected"),
            lr_before=number(line, "lr_before"),
            log_z=number(line, "log_z"),
            log_z_max=number(line, "log_z_max"),
            clipped=bool(line.get("clipped")),
            top1_share=number(line, "top1_share"),
            images=int(line.get("images") or 0),
            datasets={
                name: DatasetSigns(
                    number(d, "loss"), int(d.get("targets") or 0), number(d, "log_z"), number(d, "worst")
                )
                for name, d in (line.get("datasets") or {}).items()
            },
            activations={
                name: Activation(number(a, "rms"), number(a, "max"))
                for name, a in (line.get("activations") or {}).items()
            },
            gradients={name: float(g) for name, g in (line.get("gradients") or {}).items() if g is not None},
        )


def _number(line: Mapping[str, Any], key: str) -> float:
    """JSON has no NaN: what is null, or not there, is one."""
    value = line.get(key)
    return nan if value is None else float(value)
