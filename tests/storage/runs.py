"""Runs in a bucket, in processes of their own."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence

from upath import UPath

from obelics_pipeline.storage import Place, files_below, read_bytes
from tests.faults.runs import BOOKKEEPING, ROOT


def start(arguments: Sequence[str], proxy: str = "", **environment: str) -> subprocess.Popen[str]:
    """Start a run in a process group of its own; what is asked of this machine itself goes past the proxy."""
    given = {"PYTHONPATH": str(ROOT), "http_proxy": proxy, "no_proxy": "127.0.0.1"} | environment
    return subprocess.Popen(
        arguments,
        env=os.environ | given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(arguments: Sequence[str], proxy: str = "", **environment: str) -> tuple[int, str]:
    """Run to the end; the exit code and what was printed."""
    process = start(arguments, proxy, **environment)
    printed, _ = process.communicate(timeout=280)
    return process.returncode, printed


def obelics(*arguments: str | Place) -> list[str]:
    """A command line."""
    return [sys.executable, "-m", "obelics_pipeline", *map(str, arguments)]


def objects(run: UPath) -> dict[str, str]:
    """As `tests.faults.runs.tree`: sha256 of every object of a run's output, by its name."""
    names = (name for name in files_below(run) if not name.startswith(".lease/") and name not in BOOKKEEPING)
    return {name: hashlib.sha256(read_bytes(run / name)).hexdigest() for name in names}
