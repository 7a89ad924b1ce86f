"""Runs in a bucket, in processes of their own."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence

from upath import UPath

from obelics_pipeline.core.commit import read_manifests, unit_names
from obelics_pipeline.core.storage import Location, files_below, read_bytes, read_table
from obelics_pipeline.stages.fetch.result import results_from_table
from obelics_pipeline.stages.fetch.run_images import RunImages
from tests.faults.runs import BOOKKEEPING, ROOT

ALONE = ["fetch.enabled=false", "dedup.enabled=false"]  # one process asks for little: no images, no shuffle


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


def obelics(*arguments: str | Location) -> list[str]:
    """A command line."""
    return [sys.executable, "-m", "obelics_pipeline", *map(str, arguments)]


def whole(run: UPath) -> None:
    """Assert that nothing is half there: a name says its content's hash, or the content reads as what it should be."""
    for name in files_below(run):
        content = read_bytes(run / name)
        sha256 = hashlib.sha256(content).hexdigest()
        if match := re.search(r"-[0-9a-f]{16}-([0-9a-f]{12})\.parquet$", name):
            assert sha256.startswith(match[1]), name
        elif name.endswith(".json"):
            json.loads(content)
        elif name.endswith(".parquet"):
            assert read_table(run / name).num_columns, name
    fetched = read_manifests(run / "fetch", unit_names(run / "fetch")).values()
    tables = [read_table(manifest.path(run / "fetch", "data")) for manifest in fetched]
    assert not RunImages(run / "images").lost([result for table in tables for result in results_from_table(table)])


def objects(run: UPath) -> dict[str, str]:
    """As `tests.faults.runs.tree`: sha256 of every object of a run's output, by its name."""
    names = (name for name in files_below(run) if not name.startswith(".lease/") and name not in BOOKKEEPING)
    return {name: hashlib.sha256(read_bytes(run / name)).hexdigest() for name in names}
