"""How far the gates are open through which new layers reach the language model."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor


def gates(parameters: Mapping[str, Tensor], group_of: Mapping[str, str]) -> dict[str, float]:
    """Mean of |tanh| of each parameter whose group's kind is `gate`, by its name. All ranks must call this."""
    named = {n: p for n, p in parameters.items() if group_of.get(n, "").endswith(".gate")}
    if not named:
        return {}
    whole = [p.full_tensor() if isinstance(p, DTensor) else p for p in named.values()]
    means = torch.stack([p.detach().float().tanh().abs().mean() for p in whole])
    return dict(zip(named, means.tolist(), strict=True))
