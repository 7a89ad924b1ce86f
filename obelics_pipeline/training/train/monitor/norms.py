"""Norms of gradients and of updates by group: a few fused kernels and one copy to the host, sharded or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor, Shard

from obelics_pipeline.training.train.monitor.activations import Groups, group_names

OTHER = "0.other"
"""The group of parameters that lie in no group's module."""


def parameter_groups(names: Sequence[str], groups: Groups) -> dict[str, str]:
    """ "layer.kind" of each parameter, by the longest module name that it begins with."""
    modules = group_names(groups)
    found = {}
    for name in names:
        parts = name.split(".")
        heads = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
        found[name] = next((modules[head] for head in heads if head in modules), OTHER)
    return found


def gradient_norms(
    parameters: Mapping[str, Tensor], group_of: Mapping[str, str], process_group: Any = None
) -> dict[str, float]:
    """Norm of each group's gradients (before clipping, if called before it). All ranks must call this.

    Sharded gradients (FSDP2) are summed over the ranks by their local parts; those that every rank has whole are not.
    Parameters without a gradient are skipped.
    """
    gradients = {n: p.grad for n, p in parameters.items() if p.grad is not None}
    return group_norms(gradients, group_of, process_group)


def group_norms(
    tensors: Mapping[str, Tensor], group_of: Mapping[str, str], process_group: Any = None
) -> dict[str, float]:
    """Norm of each group of tensors. All ranks must call this with the same names."""
    if not tensors:
        return {}
    names = sorted(tensors)
    groups = sorted({group_of.get(n, OTHER) for n in names})
    local = [_local(tensors[n]).detach() for n in names]
    squares = torch.stack([n.float() for n in torch._foreach_norm(local)]).square().double()
    place = torch.tensor([groups.index(group_of.get(n, OTHER)) for n in names], device=squares.device)
    shared = torch.tensor([_is_sharded(tensors[n]) for n in names], device=squares.device)
    sums = torch.zeros(2, len(groups), dtype=torch.float64, device=squares.device)
    sums[0].index_add_(0, place, squares * shared)
    sums[1].index_add_(0, place, squares * ~shared)
    # by the kind of tensor, not by its values: all ranks take the same way
    if any(_is_sharded(tensors[n]) for n in names):
        torch.distributed.all_reduce(sums[0], group=process_group)
    return dict(zip(groups, sums.sum(0).sqrt().tolist(), strict=True))


class UpdateRatio:
    """How large an update is beside the weights, by group: about 1e-3 in a healthy run.

    `before` keeps a copy of the trainable parameters (local parts) until `after`: on sampled steps only.
    """

    def __init__(self, parameters: Mapping[str, Tensor], group_of: Mapping[str, str]) -> None:
        self.parameters = dict(parameters)
        self.group_of = dict(group_of)
        self.kept: dict[str, Tensor] | None = None

    def before(self) -> None:
        """Right before the optimiser steps."""
        self.kept = {n: p.detach().clone() for n, p in self.parameters.items()}

    def after(self, process_group: Any = None) -> dict[str, float]:
        """Right after it: norm of the update over norm of the weights. All ranks must call this."""
        if self.kept is None:
            return {}
        weights = group_norms(self.kept, self.group_of, process_group)
        for name, kept in self.kept.items():
            kept.sub_(self.parameters[name].detach())
        updates = group_norms(self.kept, self.group_of, process_group)
        self.kept = None
        return {name: updates[name] / size if size else 0.0 for name, size in weights.items()}


def _local(tensor: Tensor) -> Tensor:
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def _is_sharded(tensor: Tensor) -> bool:
    return isinstance(tensor, DTensor) and any(isinstance(p, Shard) for p in tensor.placements)
