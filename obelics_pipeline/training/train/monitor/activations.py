"""Activations by group: hooks that write into one tensor on the device, read once on sampled steps."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, sqrt
from typing import Any

import torch
from torch import Tensor, nn

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.guard.observation import Activation

Groups = Mapping[str, tuple[int, str]]
"""Layer and kind by a module's qualified name, as the model tells it."""


def group_names(groups: Groups) -> dict[str, str]:
    """ "layer.kind" by a module's name."""
    return {module: f"{layer}.{kind}" for module, (layer, kind) in groups.items()}


class ActivationMonitor:
    """Root mean square and largest absolute value of each group's outputs, over a step.

    Between `start` and `read` each forward of a hooked module adds to its group, also those of gradient accumulation
    (and those that activation checkpointing repeats, which do not change the mean). At other times a hook returns at
    once. Nothing is copied to the host before `read`.
    """

    def __init__(self, model: nn.Module, groups: Groups, device: torch.device | str) -> None:
        """Raises UserError where a module that is named in `groups` is not there."""
        named = group_names(groups)
        self.names = sorted(set(named.values()))
        place = {name: i for i, name in enumerate(self.names)}
        self.squares = torch.zeros(len(self.names), dtype=torch.float32, device=device)
        self.largest = torch.zeros(len(self.names), dtype=torch.float32, device=device)
        self.numbers = [0] * len(self.names)
        self.on = False
        modules = dict(model.named_modules())
        missing = sorted(set(named) - set(modules))
        if missing:
            raise UserError(f"the model has no module {missing[0]}, which its groups name; valid are named_modules()")
        self.handles = [modules[name].register_forward_hook(self._hook(place[named[name]])) for name in sorted(named)]

    def start(self) -> None:
        """From now on forwards are measured."""
        self.squares.zero_()
        self.largest.zero_()
        self.numbers = [0] * len(self.names)
        self.on = True

    def read(self, process_group: Any = None, *, reduce: bool = True) -> dict[str, Activation]:
        """What was measured, of all ranks together where there are several; measuring ends.

        Groups that had no forward are left out. One copy to the host. All ranks must call this.
        """
        self.on = False
        numbers = torch.tensor(self.numbers, dtype=torch.float64, device=self.squares.device)
        sums = torch.stack([self.squares.double(), numbers])
        largest = self.largest.double()
        if reduce and torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.all_reduce(sums, group=process_group)
            torch.distributed.all_reduce(largest, torch.distributed.ReduceOp.MAX, group=process_group)
        squares, counts, tops = torch.cat([sums, largest[None]]).tolist()
        return {
            name: Activation(sqrt(squares[i] / counts[i]) if squares[i] < inf else squares[i], tops[i])
            for i, name in enumerate(self.names)
            if counts[i]
        }

    def close(self) -> None:
        """Take the hooks off."""
        for handle in self.handles:
            handle.remove()

    def _hook(self, place: int) -> Any:
        def measure(module: nn.Module, inputs: Any, output: Any) -> None:
            if not self.on:
                return
            with torch.no_grad():
                made = _tensor(output)
                if made is None or not made.numel():
                    return
                # a norm reads as it is and sums in float32: no copy of a large activation is made
                norm = torch.linalg.vector_norm(made, dtype=torch.float32)
                self.squares[place].addcmul_(norm, norm)
                top = torch.linalg.vector_norm(made, inf, dtype=torch.float32)
                torch.maximum(self.largest[place], top, out=self.largest[place])
                self.numbers[place] += made.numel()

        return measure


def _tensor(output: Any) -> Tensor | None:
    """The first tensor of what a module returns."""
    if isinstance(output, Tensor):
        return output.detach()
    values = output.values() if isinstance(output, Mapping) else output if isinstance(output, tuple | list) else ()
    return next((v.detach() for v in values if isinstance(v, Tensor) and v.is_floating_point()), None)
