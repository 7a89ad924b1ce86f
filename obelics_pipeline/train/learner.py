"""The model that is trained, with its optimiser: what a step does to them, in parts that the loop puts in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any

import torch
from torch import Tensor

from models.packed_flamingo.flamingo import PackedFlamingo
from obelics_pipeline.train.collate import MicroBatch
from obelics_pipeline.train.evaluation import evaluate
from obelics_pipeline.train.optimizer import cut_gradients, gradient_norm, make_optimizer, set_rate
from obelics_pipeline.train.processes import Processes
from obelics_pipeline.train.step import Objective, backward
from obelics_pipeline.train.sums import StepSums

MOMENTS = ("exp_avg", "exp_avg_sq")  # as torch.optim.AdamW calls them


@dataclass(eq=False)
class Learner:
    """`optimizer` has a state of its own for each parameter; `steps` counts the updates it has made."""

    model: PackedFlamingo
    optimizer: torch.optim.AdamW
    objective: Objective
    processes: Processes
    names: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = dict(self.model.trainable())

    @property
    def parameters(self) -> list[Any]:
        """Those that are trained."""
        return list(self.names.values())

    def gradient(self, batches: Sequence[MicroBatch]) -> tuple[StepSums, Tensor]:
        """Put the gradient of a step in place; returns this process's sums and the norm of the whole gradient."""
        self.optimizer.zero_grad()
        sums = backward(self.model, batches, self.objective, self.processes)
        return sums, gradient_norm(self.parameters)

    def update(self, norm: Tensor, clip: float | None, rate: float, decay: float) -> None:
        """Let the optimiser step with the gradient that is in place."""
        if clip is not None:
            cut_gradients(self.parameters, norm, clip)
        set_rate(self.optimizer, rate, decay)
        self.optimizer.step()

    def evaluate(self, batches: Iterable[MicroBatch], datasets: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """See `evaluation.evaluate`."""
        return evaluate(self.model, batches, datasets, self.objective, self.processes)

    def tensors(self) -> dict[str, Any]:
        """What a checkpoint holds: parameters, their moments, and how many updates each has seen. Not copies."""
        found: dict[str, Any] = {f"model.{name}": p.detach() for name, p in self.names.items()}
        for name, parameter in self.names.items():
            state = self._state_of(parameter)
            found |= {f"{moment}.{name}": state[moment] for moment in MOMENTS}
            found[f"updates.{name}"] = state["step"]
        return found

    def _state_of(self, parameter: Any) -> Mapping[str, Any]:
        """Of the optimiser, made where it has made none yet: a checkpoint is read into what is there."""
        state = self.optimizer.state[parameter]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32)
            for moment in MOMENTS:
                state[moment] = torch.zeros_like(parameter.detach())
        return state

    def reset_moments(self, pattern: str) -> None:
        """Forget what the optimiser knows of the parameters that a pattern of fnmatch names; their count stays."""
        for name, parameter in self.names.items():
            if fnmatch(name, pattern):
                for moment in MOMENTS:
                    self._state_of(parameter)[moment].zero_()  # type: ignore[attr-defined]


def make_learner(model: PackedFlamingo, objective: Objective, processes: Processes, config: Any) -> Learner:
    """The optimiser beside a model that is on its device already, and spread over the processes."""
    decayed = frozenset(model.decayed())
    return Learner(model, make_optimizer(model.trainable(), decayed, config), objective, processes)
