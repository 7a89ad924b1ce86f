"""Rows that a language model's vocabulary gets for the tokens that a Flamingo adds. The old rows stay as they are."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class AddedRows(nn.Module):
    """Vectors of the added tokens; at first each is the mean of those of the words."""

    def __init__(self, count: int, words: torch.Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(words.detach().float().mean(0).repeat(count, 1))

    def forward(self, ids: torch.Tensor, embedded: torch.Tensor, words: int) -> torch.Tensor:
        """`embedded` (rows, tokens, width), with the vectors of added tokens put where `ids` are not of `words`."""
        own = functional.embedding((ids - words).clamp(min=0), self.weight).to(embedded.dtype)
        return torch.where((ids >= words)[..., None], own, embedded)
