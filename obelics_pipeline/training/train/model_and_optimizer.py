"""A model and its optimizer, with the parts of a training step: gradient, clip, update, evaluation."""

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
class ModelAndOptimizer:
    """A model, its optimizer and the objective. `names`: the trained parameters by name."""

    model: PackedFlamingo
    optimizer: torch.optim.AdamW
    objective: Objective
    processes: Processes
    names: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = dict(self.model.trainable())

    @property
    def parameters(self) -> list[Any]:
        """The trained parameters."""
        return list(self.names.values())

    def norm(self) -> Tensor:
        """The norm of the whole gradient over all processes, as a scalar tensor."""
        return gradient_norm(self.parameters)

    def gradient(self, batches: Sequence[MicroBatch], between: Callable[[], None]) -> tuple[StepSums, Tensor]:
        """Compute the gradient of a step. Returns the sums of this process and the norm of the whole gradient.

        `between` is called after the first of several micro-batches.
        """
        self.optimizer.zero_grad()
        sums = backward(self.model, batches, self.objective, self.processes, between)
        for parameter in self.parameters:
            if parameter.grad is None:  # a step without images: all parameters make the same number of updates
                parameter.grad = torch.zeros_like(parameter)
        return sums, self.norm()

    def set_rate(self, rate: float, decay: float) -> None:
        """Set the learning rate and the weight decay of the next update."""
        set_rate(self.optimizer, rate, decay)

    @property
    def rate(self) -> float:
        """The learning rate that the optimizer holds."""
        return float(max(group["lr"] for group in self.optimizer.param_groups))

    def update(self, norm: Tensor, clip: float | None) -> None:
        """Clip the gradient to norm `clip` (None: do not clip) and make one optimizer step."""
        if clip is not None:
            cut_gradients(self.parameters, norm, clip)
        self.optimizer.step()

    def evaluate(self, batches: Iterable[MicroBatch], datasets: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """See `evaluation.evaluate`."""
        return evaluate(self.model, batches, datasets, self.objective, self.processes)

    def reset_moments(self, pattern: str) -> None:
        """Reset the moments of the parameters whose names match a pattern of fnmatch; their step count stays."""
        reset_moments(self.names, self.optimizer, pattern)


def configured_model_and_optimizer(
    model: PackedFlamingo, config: TrainConfig, datasets: Sequence[str], processes: Processes
) -> ModelAndOptimizer:
    """Make model and optimizer by the config of a training on these data sets.

    Raises UserError if the device has no gradient for the configured attention.
    """
    if config.model.attention == "flex_attention" and processes.device.type == "cpu":
        raise UserError("model.attention: flex_attention has no gradient on a CPU; valid there are sdpa and eager")
    weights = torch.tensor([config.loss.dataset_weights.get(name, 1.0) for name in datasets], device=processes.device)
    objective = Objective(weights, config.loss.z_weight, config.record.el2n, config.precision)
    return make_model_and_optimizer(model, objective, processes, config.optimizer)


def make_model_and_optimizer(
    model: PackedFlamingo, objective: Objective, processes: Processes, config: OptimizerConfig
) -> ModelAndOptimizer:
    """Make the optimizer of a model that is on its device already, and sharded over the processes."""
    decayed = frozenset(model.parameter_groups()[0])
    return ModelAndOptimizer(model, make_optimizer(model.trainable(), decayed, config), objective, processes)
