"""What an engine costs: CPU per document of the extract stage on each, beside the local pool of one worker.

    python benchmarks/engines.py [--repeat N] [--config NAME] [--unit-bytes N] [--times N] FILE.warc.gz …

A row is an engine. It is opened, warmed up by one unit (start-up: workers are there, models are loaded), given the
same units as all others, and closed; engines take turns. CPU is that of this process and of all that came from it,
the dead included (Linux: /proc). What an engine burns while nothing is asked of it is measured for two seconds after
the warm-up and taken off, and shown apart. Beam is in memory with one worker and multi-processing with two; a pipeline
of its own does the warm-up, so that the start of the second one is counted with the units: --times makes it small.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from obelics_pipeline.beam_jobs.engine import BeamEngine
from obelics_pipeline.beam_jobs.options import local_options
from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.on_ray.engine import RayEngine
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges

UNIT_SECONDS = 3600.0
PRELOAD = ("obelics_pipeline.jobs.stages",)
IDLE_SECONDS = 2.0
TICK = os.sysconf("SC_CLK_TCK")
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h

# An engine is a row: its name, and how it is opened for a folder.
ENGINES: dict[str, Callable[[Path], AbstractContextManager[Engine]]] = {
    "local 1": lambda folder: LocalEngine(1, folder, UNIT_SECONDS, PRELOAD),
    "local 2": lambda folder: LocalEngine(2, folder, UNIT_SECONDS, PRELOAD),
    "ray 1": lambda folder: RayEngine("local", 1, folder, UNIT_SECONDS, RayConfig(), PRELOAD),
    "ray 2": lambda folder: RayEngine("local", 2, folder, UNIT_SECONDS, RayConfig(), PRELOAD),
    "beam 1": lambda folder: BeamEngine(local_options(1), folder, UNIT_SECONDS, PRELOAD),
    "beam 2": lambda folder: BeamEngine(local_options(2), folder, UNIT_SECONDS, PRELOAD),
}
BASES = {"local 2": "local 1", "ray 2": "ray 1", "beam 2": "beam 1"}  # what two workers are compared with


@dataclass(frozen=True)
class Cost:
    """CPU seconds and wall seconds of one job, start-up apart; documents it measured."""

    start_cpu: float
    start_wall: float
    idle: float  # CPU seconds per second
    cpu: float
    wall: float
    documents: int

    @property
    def per_document(self) -> float:
        """CPU milliseconds, idle background taken off."""
        return 1000 * (self.cpu - self.idle * self.wall) / self.documents


def adopt_orphans() -> None:
    """Let processes whose parents end become this one's, so that what they spent is not lost (prctl(2))."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def family_cpu() -> dict[int, float]:
    """CPU seconds of this process and of every process beneath it, with their reaped children's; by process."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
        seconds[int(entry.name)] = sum(map(int, fields[11:15])) / TICK
    family, fresh = {os.getpid()}, {os.getpid()}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh}
        family |= fresh
    return {pid: seconds[pid] for pid in family if pid in seconds}


def spent() -> float:
    """CPU seconds of this process and all beneath it so far."""
    return sum(family_cpu().values())


def measure(
    open_engine: Callable[[Path], AbstractContextManager[Engine]], units: Sequence[Unit], config: RunConfig
) -> Cost:
    """Open an engine, warm it up, do the units, close it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work = functools.partial(extract_unit, folder=folder / "extract", config=config)
        before, began = spent(), time.monotonic()
        with open_engine(folder) as engine:
            warm = [replace(units[0], id=f"warm{i}", label="warm") for i in range(4)]
            list(engine.map_units(work, warm))
            start_cpu, start_wall = spent() - before, time.monotonic() - began
            before = spent()
            time.sleep(IDLE_SECONDS)
            idle = (spent() - before) / IDLE_SECONDS
            before, began = spent(), time.monotonic()
            manifests = [manifest for _, manifest in engine.map_units(work, units)]
            cpu, wall = spent() - before, time.monotonic() - began
    assert all(isinstance(m, Manifest) for m in manifests), manifests
    documents = sum(m.ledgers["records"].kept for m in manifests if isinstance(m, Manifest))
    return Cost(start_cpu, start_wall, idle, cpu, wall, documents)


def repeated(units: Sequence[Unit], times: int) -> list[Unit]:
    """The same work several times over, under ids of its own."""
    return [replace(unit, id=f"{unit.id}{n}") for n in range(times) for unit in units]


def main() -> None:
    """Print a row per engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.warc.gz")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--config", default="default")
    parser.add_argument("--unit-bytes", type=int, default=4 * 2**20)
    parser.add_argument("--times", type=int, default=1, help="do all units this often")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    arguments = parser.parse_args()
    adopt_orphans()
    config = load_config(arguments.config, [f"reading.unit_bytes={arguments.unit_bytes}"])
    tasks = plan_ranges(resolve_inputs(arguments.files, config.reading), config.reading)
    units = repeated(extract_units(tasks, config), arguments.times)
    costs: dict[str, list[Cost]] = {name: [] for name in arguments.engines}
    for _ in range(arguments.repeat):
        for name, found in costs.items():
            found.append(measure(ENGINES[name], units, config))
    print(
        f"{len(units)} units, {costs[arguments.engines[0]][0].documents} documents, {arguments.repeat} rounds in turn"
    )
    print("engine     CPU ms/doc   x local 1   x one worker   docs/s   start CPU s   start s   idle CPU/s")
    medians = {name: statistics.median(c.per_document for c in found) for name, found in costs.items()}
    for name, found in costs.items():
        base, single = medians.get("local 1", float("nan")), medians.get(BASES.get(name, ""), float("nan"))
        rate = statistics.median(c.documents / c.wall for c in found)
        start, wall, idle = (
            statistics.median(getattr(c, field) for c in found) for field in ("start_cpu", "start_wall", "idle")
        )
        print(
            f"{name:10} {medians[name]:10.3f} {medians[name] / base:11.3f} {medians[name] / single:14.3f} {rate:8.0f} "
            f"{start:13.2f} {wall:9.2f} {idle:12.3f}"
        )


if __name__ == "__main__":
    main()
