"""A run from GCS to GCS is the run from disk to disk, byte for byte; one that is killed is gone on with."""

import os
import signal
import time
from pathlib import Path

import pytest
from upath import UPath

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.storage import files_below
from tests.core.storage.conftest import new_bucket
from tests.core.storage.runs import ALONE, finish, obelics, objects, start, whole
from tests.faults.runs import command, tree

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def source(gs: str, warcs: list[Path]) -> UPath:
    """The demo's WARC files in a bucket."""
    bucket = new_bucket("source", "gs")
    for path in warcs:
        bucket.fs.put_file(str(path), f"source/{path.name}")
    return bucket


def test_a_run_in_a_bucket_is_the_run_on_disk_even_if_it_was_killed(source: UPath, on_disk: Path) -> None:
    run = new_bucket("run", "gs") / "run"
    arguments = command([source / "*.warc.gz"], run, sets=ALONE)
    process = start(arguments)
    while process.poll() is None and sum("/manifests/" in name for name in files_below(run)) < 4:
        time.sleep(0.1)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    whole(run)
    code, printed = finish(arguments)
    assert code == 0, printed
    assert objects(run) == tree(on_disk)
    code, printed = finish(obelics("validate", run))
    shards = sum(name.endswith(".tar") for name in tree(on_disk))
    assert (code, f"valid: {counted(shards, 'shards')}, " in printed) == (0, True), printed
