"""A short name of what tensors hold, the same however they are spread over processes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from math import prod

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Shard
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_SLICE = 1 << 22  # elements at a time: their 64-bit numbers take 32 MiB a copy
_GOLDEN = -7046029254386353131  # 2**64 / golden ratio, odd: successive multiples lie far apart


def sums_of(tensors: Mapping[str, torch.Tensor]) -> dict[str, int]:
    """A number of 64 bits for each tensor, which one changed bit anywhere changes for certain.

    It is the sum of each element's bits times an odd number of its place, modulo 2**64. Sums of parts add up, so each
    rank computes its own part where it lies, and only the numbers travel. All ranks call it.
    """
    names = list(tensors)
    found: list[torch.Tensor] = []
    spread: dict[dist.ProcessGroup, list[int]] = {}
    for number, name in enumerate(names):
        tensor = tensors[name].detach()
        start = 0
        if isinstance(tensor, DTensor):
            if tuple(tensor.placements) == (Shard(0),):
                spread.setdefault(tensor.device_mesh.get_group(), []).append(number)
                _, offset = compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
                start = offset[0] * prod(tensor.shape[1:])
                tensor = tensor.to_local()
            else:
                tensor = tensor.full_tensor()
        found.append(_sum(tensor, start))
    for group, numbers in spread.items():
        total = torch.stack([found[number] for number in numbers])
        dist.all_reduce(total, group=group)
        for number, value in zip(numbers, total, strict=True):
            found[number] = value
    return {name: int(value) & 0xFFFF_FFFF_FFFF_FFFF for name, value in zip(names, found, strict=True)}


def fingerprint(tensors: Mapping[str, torch.Tensor]) -> str:
    """One name, 64 hex digits, for many tensors with their names, types and shapes. All ranks call it."""
    digest = hashlib.sha256()
    for name, value in sorted(sums_of(tensors).items()):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} {value:016x}\n".encode())
    return digest.hexdigest()


def _sum(tensor: torch.Tensor, start: int) -> torch.Tensor:
    flat = tensor.contiguous().view(-1).view(_BITS[tensor.element_size()])
    total = torch.zeros((), dtype=torch.int64, device=tensor.device)
    for begin in range(0, flat.numel(), _SLICE):
        bits = flat[begin : begin + _SLICE].to(torch.int64)
        place = torch.arange(start + begin, start + begin + bits.numel(), dtype=torch.int64, device=tensor.device)
        mixed = place * _GOLDEN
        mixed = (mixed ^ (mixed >> 29)) * _GOLDEN
        total += (bits * ((mixed ^ (mixed >> 32)) | 1)).sum()
    return total
