"""The model that is trained, with its optimiser: what a step does to them, in parts that the loop puts in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.config import OptimizerConfig, TrainConfig
from obelics_pipeline.training.train.evaluation import evaluate
from obelics_pipeline.training.train.optimizer import cut_gradients, gradient_norm, make_optimizer, set_rate
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.state.checkpoint import reset_moments
from obelics_pipeline.training.train.step import Objective, backward
from obelics_pipeline.training.train.sums import StepSums


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

    def norm(self) -> Tensor:
        """Of the whole gradient that is in place, over all processes."""
        return gradient_norm(self.parameters)

    def gradient(self, batches: Sequence[MicroBatch], between: Callable[[], None]) -> tuple[StepSums, Tensor]:
        """Put the gradient of a step in place; returns this process's sums and the norm of the whole gradient.

        `between` is called once the first of several micro-batches is done.
        """
        self.optimizer.zero_grad()
        sums = backward(self.model, batches, self.objective, self.processes, between)
        for parameter in self.parameters:
            if parameter.grad is None:  # a step without images: all parameters make the same number of updates
                parameter.grad = torch.zeros_like(parameter)
        return sums, self.norm()

    def set_rate(self, rate: float, decay: float) -> None:
        """The learning rate and the weight decay of the update that comes."""
        set_rate(self.optimizer, rate, decay)

    @property
    def rate(self) -> float:
        """The learning rate as the optimiser has it."""
        return float(max(group["lr"] for group in self.optimizer.param_groups))

    def update(self, norm: Tensor, clip: float | None) -> None:
        """Let the optimiser step with the gradient that is in place."""
        if clip is not None:
            cut_gradients(self.parameters, norm, clip)
        self.optimizer.step()

    def evaluate(self, batches: Iterable[MicroBatch], datasets: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """See `evaluation.evaluate`."""
        return evaluate(self.model, batches, datasets, self.objective, self.processes)

    def reset_moments(self, pattern: str) -> None:
        """Forget what the optimiser knows of the parameters that a pattern of fnmatch names; their count stays."""
        reset_moments(self.names, self.optimizer, pattern)


def learner_of(model: PackedFlamingo, config: TrainConfig, datasets: Sequence[str], processes: Processes) -> Learner:
    """As the config of a training on these data sets wants it; see `make_learner`. Raises UserError for attention that
    the device has no gradient of."""
    if config.model.attention == "flex_attention" and processes.device.type == "cpu":
        raise UserError("model.attention: flex_attention has no gradient on a CPU; valid there are sdpa and eager")
    weights = torch.tensor([config.loss.dataset_weights.get(name, 1.0) for name in datasets], device=processes.device)
    objective = Objective(weights, config.loss.z_weight, config.record.el2n, config.precision)
    return make_learner(model, objective, processes, config.optimizer)


def make_learner(model: PackedFlamingo, objective: Objective, processes: Processes, config: OptimizerConfig) -> Learner:
    """The optimiser beside a model that is on its device already, and spread over the processes."""
    decayed = frozenset(model.parameter_groups()[0])
    return Learner(model, make_optimizer(model.trainable(), decayed, config), objective, processes)
