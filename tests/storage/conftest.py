"""A real S3 protocol server on loopback, for processes as well: they find it by the environment."""

import hashlib
import logging
import os
from collections.abc import Iterator

import pytest
from upath import UPath

from obelics_pipeline.storage import place


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


@pytest.fixture
def bucket(s3: str, request: pytest.FixtureRequest) -> UPath:
    """A new bucket."""
    return new_bucket(f"bucket-{hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]}")


def new_bucket(name: str) -> UPath:
    found = place(f"s3://{name}")
    assert isinstance(found, UPath)
    found.fs.mkdir(name)
    return found
