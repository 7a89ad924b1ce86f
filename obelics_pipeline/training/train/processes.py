"""The processes of a training: alone, or one of several that torchrun started."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import distributed

Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class Processes:
    """`rank` of this one, of `world`; `device` that it computes on."""

    rank: int
    world: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this is the one that writes what all have in common."""
        return self.rank == 0

    @property
    def several(self) -> bool:
        """Whether there is anybody to agree with: true also for one process of torchrun."""
        return bool(distributed.is_initialized())

    def total(self, values: Any) -> Any:
        """Sums of a tensor over all processes, in place; the same bits on each."""
        if self.several:
            distributed.all_reduce(values)
        return values

    def total_of_number(self, value: int) -> int:
        """The sum of a number over all processes; a process alone asks no device."""
        return int(self.total(torch.tensor(value, device=self.device))) if self.several else value

    def largest(self, values: Any) -> Any:
        """The largest of each value over all processes, in place."""
        if self.several:
            distributed.all_reduce(values, op=distributed.ReduceOp.MAX)
        return values

    def agreed(self, value: Said) -> Said:
        """The value of the first process, on every process."""
        if not self.several:
            return value
        told = [value]
        distributed.broadcast_object_list(told, src=0)
        return told[0]

    def gathered(self, value: Said) -> Sequence[Said]:
        """The values of all processes, by rank."""
        if not self.several:
            return [value]
        told: list[Any] = [None] * self.world
        distributed.all_gather_object(told, value)
        return told

    def wait(self) -> None:
        """Until all are here."""
        if self.several:
            distributed.barrier()


def device_of(named: str) -> str:
    """What a config's device is here: "auto" is the GPU where there is one."""
    return ("cuda" if torch.cuda.is_available() else "cpu") if named == "auto" else named


def join(named: str) -> Processes:
    """Join the others where torchrun started this one; `named` is the config's device."""
    device = device_of(named)
    if "WORLD_SIZE" not in os.environ:
        return Processes(0, 1, torch.device(device))
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    if not distributed.is_initialized():
        distributed.init_process_group("nccl" if device == "cuda" else "gloo")
    return Processes(distributed.get_rank(), distributed.get_world_size(), torch.device(device))


def leave() -> None:
    """Part from the others."""
    if distributed.is_initialized():
        distributed.destroy_process_group()
