"""A look at the machine before a long training."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Burn:
    """What a device did in a short burn."""

    flops: float
    """Floating point operations in a second."""
    differing: int
    """Products that were not the bits of the first one: 0 on a sound device."""


def cores() -> int:
    """Those that this process may use, by its affinity and its control group."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        return found
    return found if quota == "max" else max(1, min(found, int(quota) // int(period)))


def thread_warning(threads: int, processes: int, available: int | None = None) -> str | None:
    """One line where threads times processes of a machine are more than its cores: that was ten times slower once.

    `processes` are those of this machine: ranks, and each rank's workers with their own threads.
    """
    have = cores() if available is None else available
    if threads * processes <= have:
        return None
    return (
        f"{processes} processes with {threads} threads each want {threads * processes} cores, and there are {have}; "
        f"set OMP_NUM_THREADS={max(1, have // processes)}, or start fewer processes or workers"
    )


def burn(device: str = "cpu", seconds: float = 2.0, size: int = 512) -> Burn:
    """Multiply the same matrices for a while: how fast it is, and whether it is the same each time."""
    import torch

    from obelics_pipeline.training.train.health.checksum import checksum

    draw = torch.Generator().manual_seed(0)
    kind = torch.float32 if torch.device(device).type == "cpu" else torch.bfloat16
    a, b = (torch.randn(size, size, generator=draw).to(device, kind) for _ in range(2))
    first = checksum([a @ b])
    rounds, differing, began = 0, 0, time.perf_counter()
    working = 0.0
    while time.perf_counter() - began < seconds:
        start = time.perf_counter()
        product = a @ b
        _wait(torch, device)
        working += time.perf_counter() - start
        rounds += 1
        differing += checksum([product]) != first
    return Burn(2.0 * size**3 * rounds / working if working else 0.0, differing)


def _wait(torch: Any, device: str) -> None:
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
