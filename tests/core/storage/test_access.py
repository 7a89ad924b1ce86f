"""What a person can mend about a bucket is one line; credentials that are lost on the way stop a run that can go on."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from upath import UPath

from obelics_pipeline.core.access import access_lost, reaching
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.storage import files_below, location, read_bytes
from tests.core.storage.runs import finish, objects, start
from tests.faults.runs import command, tree

ALONE = ["fetch.enabled=false", "dedup.enabled=false"]


class Guarded:
    """An S3 server in a process of its own that can be told to check who asks."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def trust(self, requests: int) -> None:
        """Let so many more requests through without a look at their credentials."""
        plain = {"Content-Type": "text/plain"}  # a form would be parsed, and not found
        asked = urllib.request.Request(f"{self.url}/moto-api/reset-auth", str(requests).encode(), plain, method="POST")
        with urllib.request.urlopen(asked, timeout=10) as answer:
            assert answer.status == 200


@pytest.fixture(scope="module")
def guarded(s3: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path_factory.mktemp("server") / "log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log
    )
    server = Guarded(port)
    for _ in range(300):
        try:
            server.trust(10**9)
            break
        except OSError:
            time.sleep(0.2)
    yield server
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    log.close()


def run_of(server: Guarded, url: str) -> UPath:
    found = location(url, {"s3": {"endpoint_url": server.url}})
    assert isinstance(found, UPath)
    return found


def one_line(printed: str) -> str:
    lines = printed.strip().splitlines()
    assert len(lines) == 1, printed
    return lines[0]


def test_a_wrong_bucket(s3: str, warcs: list[Path]) -> None:
    code, printed = finish(command(warcs, "s3://no-such-bucket/run", sets=ALONE))  # type: ignore[arg-type]
    assert code == 2
    line = one_line(printed)
    assert "--output s3://no-such-bucket/run: cannot be written to" in line
    assert "bucket does not exist" in line


def test_no_credentials(s3: str, warcs: list[Path], tmp_path: Path) -> None:
    nobody = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": str(tmp_path)}
    code, printed = finish(command(warcs, "s3://bucket/run", sets=ALONE), **nobody)  # type: ignore[arg-type]
    assert (code, "check the credentials" in one_line(printed)) == (2, True), printed
    code, printed = finish(command(["s3://bucket/*.warc.gz"], tmp_path / "run", sets=ALONE), **nobody)  # type: ignore[list-item]
    assert (code, "redentials" in one_line(printed)) == (2, True), printed


@pytest.mark.slow
def test_a_bucket_that_may_only_be_read(guarded: Guarded, warcs: list[Path]) -> None:
    guarded.trust(10**9)
    iam = boto3.client("iam", endpoint_url=guarded.url)
    iam.create_user(UserName="reader")
    allowed = {"Effect": "Allow", "Action": ["s3:Get*", "s3:List*"], "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    iam.put_user_policy(UserName="reader", PolicyName="read", PolicyDocument=policy)
    key = iam.create_access_key(UserName="reader")["AccessKey"]
    run_of(guarded, "s3://readable/run").fs.mkdir("readable")
    guarded.trust(0)
    reader = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
    code, printed = finish(
        command(warcs, "s3://readable/run", sets=ALONE),  # type: ignore[arg-type]
        AWS_ENDPOINT_URL=guarded.url,
        **reader,
    )
    assert code == 2
    assert "no access (PermissionError: Access Denied); check the credentials" in one_line(printed)
    guarded.trust(10**9)
    assert files_below(run_of(guarded, "s3://readable")) == {}


@pytest.mark.slow
def test_credentials_that_are_lost_on_the_way(guarded: Guarded, warcs: list[Path], tmp_path: Path) -> None:
    guarded.trust(10**9)
    run = run_of(guarded, "s3://kept/run")
    run.fs.mkdir("kept")
    endpoint = f"reading.storage_options={{s3: {{endpoint_url: '{guarded.url}'}}}}"
    arguments = command(warcs, run, sets=[*ALONE, endpoint])  # type: ignore[arg-type]
    process = start(arguments)
    while process.poll() is None and not files_below(run / "extract" / "manifests"):
        time.sleep(0.05)
    guarded.trust(0)
    printed, _ = process.communicate(timeout=200)
    assert process.returncode == 3, printed
    assert "no access" in printed
    assert "Traceback" not in printed
    guarded.trust(10**9)
    code, printed = finish(arguments)
    assert code == 0, printed
    assert b'"unit_done"' in read_bytes(run / "events.jsonl")
    code, printed = finish(command(warcs, tmp_path / "run", sets=[*ALONE, endpoint]))
    assert code == 0, printed
    assert objects(run) == tree(tmp_path / "run")


class NoCredentialsError(Exception):
    """Named as botocore's is."""


class HttpError(Exception):
    """As gcsfs's is."""

    code = 401


@pytest.mark.parametrize(
    "error", [PermissionError("x"), OSError("Forbidden: b/o\nno"), NoCredentialsError(), HttpError()]
)
def test_access_that_is_denied_is_told_apart_from_what_may_pass(error: Exception) -> None:
    assert access_lost(error) is not None
    with pytest.raises(Stopped, match=r"s3://b/o: no access .*; check the credentials"), reaching("s3://b/o"):
        raise error


@pytest.mark.parametrize("error", [TimeoutError("slow"), OSError(5, "EIO"), RuntimeError("a\nb"), ValueError("x")])
def test_all_else_is_an_error_of_the_disk(error: Exception) -> None:
    assert access_lost(error) is None
    with pytest.raises(OSError, match=type(error).__name__) as raised, reaching("s3://b/o"):
        raise error
    assert (raised.value.filename, raised.value.errno) == ("s3://b/o", 5)
