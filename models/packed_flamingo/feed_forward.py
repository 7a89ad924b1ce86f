"""The two matrices behind each attention, and the gate through which a new layer's work reaches the language model."""

from __future__ import annotations

import torch
from torch import nn

from obelics_pipeline.models.packed_flamingo.attention import activation
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings


class FeedForward(nn.Module):
    """Two matrices with a nonlinearity between them."""

    def __init__(self, settings: FlamingoSettings, width: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, settings.ffn_multiple * width, bias=settings.bias)
        self.activation = activation(settings.activation)
        self.fc2 = nn.Linear(settings.ffn_multiple * width, width, bias=settings.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of each vector by itself."""
        made: torch.Tensor = self.fc2(self.activation(self.fc1(x)))
        return made


class Gate(nn.Module):
    """tanh of a parameter that begins at 0: one number, or one for each of the width (arXiv 2204.14198)."""

    def __init__(self, settings: FlamingoSettings, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1 if settings.gate == "scalar" else width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """As much of it as the gate lets through."""
        return x * self.weight.tanh().to(x.dtype)
