"""What runs inside a Ray worker: a child process that does the work, so that its death is an outcome and not a loss.

Ray's own means were weighed against this: `max_retries=0` with `WorkerCrashedError`, and `ray.cancel(force=True)` for
a unit that takes too long. They restart a whole Ray worker after each death, where a child is forked,
cannot tell a bad page from a lost node, count the time in Ray's queue as the unit's, and let a worker grow. The
child is the local engine's pool of one process: deaths, time and memory are bounded by the same lines of code, and it
costs a message over a pipe per unit (benchmarks/engines.py).
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import obelics_pipeline
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location
from obelics_pipeline.engines.pool import RECYCLE_BYTES, Died, Pool, Raised
from obelics_pipeline.engines.worker import start_worker


@dataclass(frozen=True)
class ChildProcess:
    """What a Ray worker must know about the run: its folder, a file that stands there meanwhile, and the limits.

    `seconds` is the time limit of a unit; `preload` names modules that are imported before children are forked; a child
    that is larger than `recycle_bytes` after a unit is replaced.
    """

    folder: Location
    mark: str
    seconds: float
    preload: tuple[str, ...]
    version: str = obelics_pipeline.__version__
    recycle_bytes: float = RECYCLE_BYTES

    def locks(self) -> Path:
        """Where a child holds its lock: the run's folder where it is a disk, so that the next run waits for it."""
        return self.folder if isinstance(self.folder, Path) else Path(tempfile.gettempdir())


class Call(NamedTuple):
    """A function and an item, pickled; the child opens them: what they need is not imported by the Ray worker."""

    function: bytes
    item: bytes


def make(call: Call) -> Any:
    """Make a call, in the child."""
    return pickle.loads(call.function)(pickle.loads(call.item))  # noqa: S301 - comes from our own driver


def run_in_child(guard: ChildProcess, call: Call) -> Any | Raised | Died:
    """The outcome of a call, made in this worker's child."""
    try:
        pool = _child_of(guard)
    except UserError as error:
        return Raised(error)
    return next(outcome for _, outcome in list(pool.each(make, deque([call]), guard.seconds)))


def run_block(guard: ChildProcess, function: bytes, items: Sequence[bytes], seconds: float) -> list[Any]:
    """The outcomes of the first items: of as many as are begun within so many seconds, and of one at least."""
    end = time.monotonic() + seconds
    outcomes = [run_in_child(guard, Call(function, items[0]))]
    while len(outcomes) < len(items) and time.monotonic() < end:
        outcomes.append(run_in_child(guard, Call(function, items[len(outcomes)])))
    return outcomes


@cache
def _child_of(guard: ChildProcess) -> Pool[Call, Any]:
    """This worker's pool of one. It ends with the Ray worker: its child watches that. Raises UserError."""
    _check(guard)
    _hide_main_module()
    return Pool(1, start_worker, (os.getpid(), str(guard.locks())), guard.preload, guard.recycle_bytes)


def _check(guard: ChildProcess) -> None:
    """Refuse to work where results would be lost, or be others'."""
    node = socket.gethostname()
    if not (guard.folder / guard.mark).exists():
        raise UserError(
            f"--output {guard.folder}: node {node} of the Ray cluster does not see this folder; give one that all "
            "nodes share (a network file system, s3://, gs://)"
        )
    if obelics_pipeline.__version__ != guard.version:
        raise UserError(
            f"--engine ray: node {node} has obelics-pipeline {obelics_pipeline.__version__}, this is {guard.version}; "
            "install the same version everywhere"
        )


def _hide_main_module() -> None:
    """A child would import the main module of its parent once more, and here that is all of Ray."""
    main = sys.modules["__main__"]
    if str(getattr(main, "__file__", "")).endswith("default_worker.py"):
        main.__file__ = None
