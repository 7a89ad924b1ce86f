"""This machine: CPUs, memory, file handles, free disk. Values that cannot be read are left out."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.interval import Interval
from obelics_pipeline.core.storage import Location
from obelics_pipeline.inspect.check.finding import Finding, gigabytes

WORKER_BYTES = 700 * 2**20  # what a worker is kept below (engines/pool.py recycles it at 500 MiB)
HANDLES = 256  # of a process before it opens a socket: libraries, pipes, DuckDB's hundred files of one shuffle
HANDLES_PER_WORKER = 4  # of the driver: a pipe, a sentinel, and as much again while a worker is replaced
CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def cpus() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def memory_bytes() -> int | None:
    """Memory that processes may still take, within the limits of a container."""
    found: list[int] = []
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")))
    for path in CGROUPS:
        with suppress(OSError, ValueError):
            found.append(int(Path(path).read_text()))
    return min(found, default=None)


def machine_findings(config: RunConfig, workers: int) -> list[Finding]:
    """What this machine lacks for a run of so many workers."""
    return [_cpu_finding(workers), *_memory(workers, WORKER_BYTES), _handles(config, workers)]


def _cpu_finding(workers: int) -> Finding:
    n = cpus()
    if workers > n:
        return Finding("CPUs", "warning", f"{n} for {workers} workers: more workers than CPUs do not make a run faster")
    return Finding("CPUs", "ok", f"{n} for {workers} workers")


def _memory(workers: int, each: int) -> Sequence[Finding]:
    available = memory_bytes()
    if available is None:
        return ()
    told = f"{gigabytes(available)} for {workers} workers of up to {gigabytes(each)}"
    if available < workers * each:
        return (Finding("memory", "warning", f"{told}; --workers {max(1, available // each)} are safe"),)
    return (Finding("memory", "ok", told),)


def _handles(config: RunConfig, workers: int) -> Finding:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    sockets = 2 * config.fetch.threads if config.fetch.enabled else 0
    need = HANDLES + max(workers * HANDLES_PER_WORKER, sockets)
    if limit != resource.RLIM_INFINITY and limit < need:
        return Finding("file handles", "missing", f"the limit is {limit:,}, {need:,} are needed: ulimit -n {2 * need}")
    return Finding("file handles", "ok", f"{need:,} needed")


def disk_finding(output: Location, needed: Interval) -> Finding:
    """Free space at a local output against what the run would write."""
    if not isinstance(output, Path):
        return Finding("disk", "ok", f"about {gigabytes(needed.point)} in the store")
    free = shutil.disk_usage(existing(output)).free
    told = f"{gigabytes(free)} free at {existing(output)}, {gigabytes(needed.point)} needed"
    told += f" ({gigabytes(needed.low)} to {gigabytes(needed.high)})" if needed.low < needed.high else ""
    if free < needed.low:
        return Finding("disk", "missing", f"{told}; give an --output elsewhere, or less input")
    if free < needed.high:
        return Finding("disk", "warning", f"{told}: it may not be enough")
    return Finding("disk", "ok", told)


def existing(path: Path) -> Path:
    """The nearest folder above a path that is there."""
    path = path.absolute()
    while not path.is_dir():
        path = path.parent
    return path
