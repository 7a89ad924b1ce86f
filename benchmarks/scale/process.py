"""A process of its own for each measurement, what it spends, and how large it becomes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from benchmarks.scale.fit import Size

Value = TypeVar("Value")


@dataclass(frozen=True)
class Spent:
    """CPU seconds of the process, and its largest size meanwhile less that at the beginning, in bytes."""

    seconds: float
    memory: int


Measure = Callable[[Size], Mapping[str, Spent]]  # steps by name


def alone(function: Callable[..., Value], *arguments: Any) -> Value:
    """What a picklable function gives in a new process: no memory there is that of another measurement."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def each_of(measure: Measure, sizes: Sequence[Size]) -> list[Mapping[str, Spent]]:
    """What is spent on each size, in this process. A small one is done before, for what it imports.

    What is there by then is no longer looked through for garbage: `reset_peak` collects it often.
    """
    measure(Size(2, 200))
    gc.collect()
    gc.freeze()
    return [measure(size) for size in sizes]


def least(tries: Sequence[Mapping[str, Spent]]) -> dict[str, Spent]:
    """The lowest CPU time, and the lowest memory, of each step in several tries."""
    steps = dict.fromkeys(step for of_try in tries for step in of_try)
    found = {step: [of_try[step] for of_try in tries if step in of_try] for step in steps}
    return {
        step: Spent(min(spent.seconds for spent in all_), min(spent.memory for spent in all_))
        for step, all_ in found.items()
    }


def spent_by(work: Callable[[], object]) -> Spent:
    """What a call costs in this process."""
    size, begin = reset_peak(), time.process_time()
    work()
    return Spent(time.process_time() - begin, peak() - size)


def peak() -> int:
    """The largest size of this process since `reset_peak`, in bytes (Linux: proc(5), VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def reset_peak() -> int:
    """Count the largest size from here on; the size now (proc(5), clear_refs). What was freed is given back first."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def memory_folder() -> str | None:
    """A folder in memory, if there is one: nobody waits for a disk, and what is measured is CPU time."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
