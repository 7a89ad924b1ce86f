"""How far an update can move weights: AdamW has a bound, and what is beyond it was no update."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, sqrt
from typing import Any

import torch
from torch import Tensor

ROUNDING = 1e-4
"""Share of a norm that sums in float32 may be off by."""
SLACK = 1.05


def largest_step(beta1: float, beta2: float) -> float:
    """The most that Adam moves one weight in an update, in learning rates.

    By Cauchy and Schwarz |m| / sqrt(v) is at most (1 - beta1) / sqrt((1 - beta2)(1 - beta1^2 / beta2)), whatever the
    gradients were; with the corrections for the first steps it is less. Infinite where beta1^2 >= beta2.
    """
    if beta1**2 >= beta2:
        return inf
    return max(1.0, (1 - beta1) / sqrt((1 - beta2) * (1 - beta1**2 / beta2)))


class UpdateBounds:
    """Norms of weights after each update, compared with those before it.

    The Euclidean norm of a tensor of n weights moves by at most rate * (c * sqrt(n) + decay * norm), its largest value
    by at most rate * (c + decay * largest), where c is `largest_step`. Weights that were multiplied, or overwritten,
    while the optimiser wrote them, are seen so; no threshold is fitted to anything.
    """

    def __init__(self, parameters: Mapping[str, Any], beta1: float, beta2: float) -> None:
        self.names = list(parameters)
        self.tensors = list(parameters.values())
        self.most = largest_step(beta1, beta2)
        self.kept: list[list[float]] | None = None

    def written(self) -> None:
        """Weights were written by no update: a checkpoint was read."""
        self.kept = self._norms()

    def moved(self, rate: float, decay: float) -> str | None:
        """After an update: the name of a tensor of this process that moved farther than it could; None: none did."""
        before, self.kept = self.kept, self._norms()
        if before is None or self.most == inf:
            return None
        for i, name in enumerate(self.names):
            n = _local(self.tensors[i]).numel()
            for old, new, size in zip(before[i], self.kept[i], (sqrt(n), 1.0), strict=True):
                bound = rate * (self.most * size + decay * old)
                if not abs(new - old) <= SLACK * bound + ROUNDING * old:  # also where it is no number
                    return name
        return None

    def _norms(self) -> list[list[float]]:
        """Euclidean norm and largest absolute value, by tensor; one copy to the host."""
        local = [_local(t) for t in self.tensors]
        full = [t for t in local if t.numel()]  # a shard may be empty
        if not full:
            return [[0.0, 0.0] for _ in local]
        ends = [t.aminmax() for t in full]  # on a CPU six times as fast as the maximum norm
        largest = torch.maximum(torch.stack([e.max for e in ends]), -torch.stack([e.min for e in ends]))
        found = iter(torch.stack([torch.stack(torch._foreach_norm(full)), largest]).T.tolist())
        return [next(found) if t.numel() else [0.0, 0.0] for t in local]


def _local(tensor: Any) -> Tensor:
    local: Tensor = (tensor.to_local() if hasattr(tensor, "to_local") else tensor).detach()
    return local
