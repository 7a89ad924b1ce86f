"""The optimiser, and the norm and the cutting of gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from obelics_pipeline.training.train.config import OptimizerConfig


def make_optimizer(
    parameters: Mapping[str, Any], decayed: frozenset[str], config: OptimizerConfig
) -> torch.optim.AdamW:
    """AdamW over parameters by name: a group that decays, named by `decayed`, and one that does not.

    The rate and the decay are 0 here: each step sets them, as `schedule` says. A rate that an optimiser keeps for
    itself is one that a restart can lose.
    """
    groups = [
        {"params": [p for name, p in parameters.items() if (name in decayed) is decays], "decays": decays}
        for decays in (True, False)
    ]
    betas = (config.beta1, config.beta2)
    return torch.optim.AdamW(groups, lr=0.0, betas=betas, eps=config.eps, weight_decay=0.0, fused=True)


def set_rate(optimizer: torch.optim.Optimizer, rate: float, decay: float) -> None:
    """The learning rate and the weight decay of the step that comes."""
    for group in optimizer.param_groups:
        group["lr"] = rate
        group["weight_decay"] = decay if group["decays"] else 0.0


def gradient_norm(parameters: Sequence[Any]) -> Tensor:
    """The norm of the whole gradient, over all processes, as a scalar on the device."""
    norm: Any = torch.nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])
    return norm.full_tensor() if hasattr(norm, "full_tensor") else norm


def cut_gradients(parameters: Sequence[Any], norm: Tensor, most: float) -> None:
    """Scale the gradient to the norm `most` where it is longer; `norm` is what it has."""
    torch.nn.utils.clip_grads_with_norm_([p for p in parameters if p.grad is not None], most, norm)
