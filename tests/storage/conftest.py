"""Real S3 and GCS protocol servers on loopback, for processes as well: they find them by the environment."""

import hashlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from upath import UPath

from obelics_pipeline.storage import place
from tests.faults.runs import command
from tests.storage.runs import ALONE, finish


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of an S3 server that keeps its objects in memory."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    environment = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield address
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        server.stop()


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
    found = place(f"{protocol}://{name}")
    assert isinstance(found, UPath)
    found.fs.mkdir(name)
    return found
