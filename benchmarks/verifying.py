"""What it costs to check the hash of every file that a run reads: CPU of the default run with and without.

    python -m benchmarks.verifying [--times N] FILE.warc.gz …

Each run is a process of its own, in which units are done one after the other; images are not fetched. Runs with and
without the checks take turns, and the median of each counts. CPU is that of the process and of all that it started. The
second figure is told by the runs with checks themselves: CPU of the calls that read and hash, as a share of all.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from obelics_pipeline.core import storage
from obelics_pipeline.engines import shuffle
from obelics_pipeline.jobs.main_job import run
from tests.faults.inline import Inline

VALUES = ("fetch.enabled=false", "images.min_per_document=0")


class Checking:
    """CPU seconds of the calls that check, and bytes that they hashed."""

    def __init__(self) -> None:
        self.seconds, self.bytes = 0.0, 0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, counted."""

        def call(*arguments: Any) -> Any:
            began = time.thread_time()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.thread_time() - began
                self.bytes += len(arguments[0]) if isinstance(arguments[0], bytes) else 0

        return call


def one_run(inputs: Sequence[str], checks: bool) -> dict[str, float]:
    """A run in a process of its own: CPU seconds of it all, and of its checks, and MB that these hashed."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            told = _run(inputs, checks)
            os.write(writes, json.dumps({"checks": told.seconds, "megabytes": told.bytes / 1e6}).encode())
            status = 0
        os._exit(status)
    os.close(writes)
    _, status, used = os.wait4(child, 0)
    with os.fdopen(reads) as answer:
        if status:
            sys.exit("a run failed")
        return {**json.load(answer), "all": used.ru_utime + used.ru_stime}


def _run(inputs: Sequence[str], checks: bool) -> Checking:
    found = Checking()
    timed = SimpleNamespace(sha256=found.timed(hashlib.sha256), file_digest=hashlib.file_digest)
    with pytest.MonkeyPatch.context() as patch:
        if checks:
            patch.setattr(storage, "hashlib", timed)
            patch.setattr(shuffle, "hold_to_name", found.timed(storage.hold_to_name))
        else:
            patch.setattr(storage, "stated_hash", lambda _name: None)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            if run("default", inputs, str(Path(folder) / "out"), overrides=VALUES, open_engine=_inline) != 0:
                raise RuntimeError("the run has failed units")
    return found


def _inline(folder: storage.Location, _config: object) -> Inline:
    return Inline(storage.scratch_of(folder))


def main() -> None:
    """Print both figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("inputs", nargs="+", metavar="FILE.warc.gz")
    parser.add_argument("--times", type=int, default=3, help="runs of each (default: 3)")
    given = parser.parse_args()
    runs: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    for _ in range(given.times):
        for checks, found in runs.items():
            found.append(one_run(given.inputs, checks))
            print("with" if checks else "without", {k: round(v, 3) for k, v in found[-1].items()}, flush=True)
    with_checks, without = (statistics.median(one["all"] for one in runs[checks]) for checks in (True, False))
    share = statistics.median(one["checks"] / one["all"] for one in runs[True])
    print(f"CPU with checks {with_checks:.2f} s, without {without:.2f} s: {with_checks / without - 1:+.1%}")
    print(f"in the calls that check: {share:.2%}")


if __name__ == "__main__":
    main()
