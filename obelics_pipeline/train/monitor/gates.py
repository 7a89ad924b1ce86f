"""How far the gates are open through which new layers reach the language model."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor


@torch.no_grad()
def gates(parameters: Mapping[str, Tensor], group_of: Mapping[str, str]) -> dict[str, float]:
    """Mean of |tanh| of each parameter whose group's kind is `gate`, by its name. All ranks must call this."""
    named = {n: p for n, p in parameters.items() if group_of.get(n, "").endswith(".gate")}
    if not named:
        return {}
    means = [
        (p.full_tensor() if isinstance(p, DTensor) else p).detach().float().tanh().abs().mean() for p in named.values()
    ]
    return dict(zip(named, torch.stack(means).tolist(), strict=True))
