"""Buckets on the real S3 and GCS protocol servers of `tests.conftest`, and the run on disk to compare with."""

import hashlib
from pathlib import Path

import pytest
from upath import UPath

from obelics_pipeline.core.storage import location
from tests.core.storage.runs import ALONE, finish
from tests.faults.runs import command


@pytest.fixture(scope="session")
def warcs(warcs: list[Path]) -> list[Path]:
    """Half of the demo's site: a bucket is asked all that it can be asked, half as often."""
    return warcs[:1]


@pytest.fixture(scope="session")
def on_disk(warcs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run from disk to disk, without images and deduplication."""
    output = tmp_path_factory.mktemp("on-disk") / "run"
    code, printed = finish(command(warcs, output, sets=ALONE))
    assert code == 0, printed
    return output


@pytest.fixture(params=["s3", pytest.param("gs", marks=pytest.mark.slow)])
def bucket(request: pytest.FixtureRequest) -> UPath:
    """A new bucket."""
    return bucket_of(request, request.param)


def bucket_of(request: pytest.FixtureRequest, protocol: str) -> UPath:
    """A new bucket for a test, on a server of its protocol."""
    request.getfixturevalue(protocol)
    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]
    return new_bucket(f"bucket-{name}", protocol)


def new_bucket(name: str, protocol: str = "s3") -> UPath:
    found = location(f"{protocol}://{name}")
    assert isinstance(found, UPath)
    found.fs.mkdir(name)
    return found
