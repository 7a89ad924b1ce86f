"""Runs one after the other in this process: `python -m tests.jobs.repeated_runs INPUT OUTPUT COUNT SETTING...`.

After each run a line of JSON says what there is: see `Left`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from obelics_pipeline.cli.main import main
from tests.faults.faulty_urls import children_of
from tests.small import arguments


@dataclass(frozen=True)
class Left:
    """What is there after a run that was not there for the run's sake: files, processes, threads; and MiB."""

    descriptors: list[str]
    children: list[int]
    threads: list[str]
    temporary: list[str]
    megabytes: float


def left() -> Left:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    own = f"/proc/{os.getpid()}/fd"
    return Left(
        sorted(os.readlink(f"{own}/{n}") for n in os.listdir(own) if os.path.exists(f"{own}/{n}")),
        sorted(children_of(os.getpid())),
        sorted(thread.name for thread in threading.enumerate()),
        sorted(str(path.relative_to(tempfile.gettempdir())) for path in Path(tempfile.gettempdir()).rglob("*")),
        pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
    )


if __name__ == "__main__":
    source, output, count, *settings = sys.argv[1:]
    for number in range(int(count)):
        code = main(arguments([source], Path(output) / str(number), *settings))
        print(json.dumps({"code": code, **asdict(left())}), file=sys.__stdout__, flush=True)
