"""What is measured inside the model on sampled steps, put together for a line of the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import torch

from obelics_pipeline.models.packed_flamingo.attention import watched_attention
from obelics_pipeline.models.packed_flamingo.groups import groups
from obelics_pipeline.training.train.model_and_optimizer import ModelAndOptimizer
from obelics_pipeline.training.train.monitor.activations import ActivationMonitor
from obelics_pipeline.training.train.monitor.gates import gates
from obelics_pipeline.training.train.monitor.noise_scale import NoiseScale
from obelics_pipeline.training.train.monitor.norms import UpdateRatio, gradient_norms, parameter_groups


class Instruments:
    """Activations, gradients, updates, gates and attention by "layer.kind", every `every` steps. All processes call it.

    On other steps there are no hooks: they cost time, and blocks that are compiled would be so with them.
    """

    def __init__(self, model_and_optimizer: ModelAndOptimizer, every: int) -> None:
        self._model_and_optimizer, self._every = model_and_optimizer, every
        self._named = groups(model_and_optimizer.model)
        self._activations: Any = None
        self._group_of = parameter_groups(list(model_and_optimizer.names), self._named)
        self._updates = UpdateRatio(model_and_optimizer.names, self._group_of)
        self._noise = NoiseScale()
        self._within = ExitStack()
        self._first: float | None = None
        self.sampled = False

    def state(self) -> dict[str, Any]:
        """The state that the instruments carry from sampled step to sampled step, for a checkpoint."""
        return self._noise.state()

    def load(self, state: Mapping[str, Any]) -> None:
        """As `state` gave it."""
        self._noise.load(state)

    def start(self, step: int) -> None:
        """Before the forward passes of a step."""
        self.sampled = step % self._every == 0 or step == 1
        self._first = None
        if self.sampled:
            # compiled code would pass by what hooks and watched layers do
            self._within.enter_context(torch.compiler.set_stance("force_eager"))
            self._activations = ActivationMonitor(
                self._model_and_optimizer.model, self._named, self._model_and_optimizer.processes.device
            )
            self._within.callback(self._activations.close)
            self._activations.start()
            self._watched = self._within.enter_context(watched_attention(self._model_and_optimizer.model))

    def first_micro_batch(self) -> None:
        """Between the first two micro-batches of a step: keep the norm so far, to measure the noise of gradients by."""
        if self.sampled:
            self._first = float(self._model_and_optimizer.norm()) ** 2

    def read(self, norm: float, targets: int, first_targets: int) -> dict[str, Any]:
        """After the gradient is there: what a line says of it; empty where the step is not sampled.

        `norm` of the whole gradient, of so many targets; `first_targets` are those of the first micro-batches.
        """
        if not self.sampled:
            return {}
        shapes = {name: layer.watched for name, layer in self._watched.items() if layer.watched is not None}
        found: dict[str, Any] = {
            "activations": {name: asdict(seen) for name, seen in self._activations.read().items()},
            "gradients": gradient_norms(self._model_and_optimizer.names, self._group_of),
            "gates": gates(self._model_and_optimizer.names, self._group_of),
            "attention": _figures(shapes),
        }
        self._within.close()
        if self._first is not None and targets > first_targets > 0:
            # the gradient of the first part was divided by the targets of all
            small = self._first * (targets / first_targets) ** 2
            found["noise_scale"] = self._noise.feed(small, first_targets, norm**2, targets)
        return found

    def before_update(self) -> None:
        """Right before the optimiser steps."""
        if self.sampled:
            self._updates.before()

    def after_update(self) -> dict[str, Any]:
        """Right after it."""
        return {"updates": self._updates.after()} if self.sampled else {}


def _figures(shapes: dict[str, Any]) -> dict[str, dict[str, float]]:
    if not shapes:
        return {}
    values = torch.stack([torch.stack([s.largest.float(), s.entropy.float()]) for s in shapes.values()]).tolist()
    return {name: {"max_logit": v[0], "entropy": v[1]} for name, v in zip(shapes, values, strict=True)}
