"""Sums over the bits of tensors: exact, whatever the order, so that they can be compared between ranks and steps."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

_WORDS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
PLACES = 8191
"""A prime: the weights of places repeat after so many, so that two values that change places are seen."""


def quick_sum(tensors: Iterable[Tensor]) -> int:
    """As `checksum`, for every step: a fifth of its time. Any single flipped bit changes it, and any tensors that
    change places; two values of one tensor that change places do not."""
    parts: list[Tensor] = []
    with torch.no_grad():
        for tensor in tensors:
            local = (tensor.to_local() if hasattr(tensor, "to_local") else tensor).detach().contiguous().view(-1)
            size = local.element_size()
            wide = local.numel() * size % 8 == 0 and local.storage_offset() * size % 8 == 0
            parts.append(local.view(torch.int64 if wide else _WORDS[size]).sum(dtype=torch.int64))
        if not parts:
            return 0
        stacked = torch.stack(parts)
        return int((stacked * (2 * torch.arange(len(parts), device=stacked.device) + 1)).sum())


def checksum(tensors: Iterable[Tensor]) -> int:
    """Of all of them (of a DTensor, its local part): a signed number of 64 bits. One copy to the host.

    Each word counts times an odd number that depends on its place, so any single flipped bit changes the sum; integers
    wrap around, which is the same in any order.
    """
    total: Tensor | None = None
    with torch.no_grad():
        for number, tensor in enumerate(tensors):
            local = tensor.to_local() if hasattr(tensor, "to_local") else tensor
            words = local.detach().contiguous().view(-1).view(_WORDS[local.element_size()])
            part = torch.zeros((), dtype=torch.int64, device=words.device)
            weights = 2 * torch.arange(PLACES, dtype=torch.int64, device=words.device) + 1
            whole = len(words) // PLACES * PLACES
            # in slices, or int64 copies would take eight times the memory of bfloat16
            for start in range(0, whole, PLACES * 128):
                rows = words[start : min(start + PLACES * 128, whole)].view(-1, PLACES)
                part += (rows.to(torch.int64).sum(0) * weights).sum()
            part += (words[whole:].to(torch.int64) * weights[: len(words) - whole]).sum()
            part *= 2 * number + 1
            total = part if total is None else total + part.to(total.device)
    return 0 if total is None else int(total.item())
