"""Passwords, keys and signatures reach no file of a run and no line of the terminal."""

import base64
import http.server
import io
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.redacted import redacted
from tests.faults.inline import runs_inline
from tests.small import arguments, write_warc

SIGNED = "X-Amz-Credential=PLANTED-id%2Fs3&X-Amz-Signature=PLANTED-one&Expires=9"


class Guarded(http.server.BaseHTTPRequestHandler):
    """Gives ranges of one file to who shows the password and a signature; notes nothing."""

    def __init__(self, data: bytes, *arguments: Any) -> None:
        self._data = data
        super().__init__(*arguments)

    def do_HEAD(self) -> None:
        self._answer(send=False)

    def do_GET(self) -> None:
        self._answer(send=True)

    def _answer(self, send: bool) -> None:
        shown = f"Basic {base64.b64encode(b'reader:PLANTED-word').decode()}"
        if self.headers["Authorization"] != shown or "Signature=PLANTED-" not in self.path:
            self.send_error(403)
            return
        first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        part = self._data[int(first) : int(last) + 1 if last else None]
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(self._data)}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"one"')
        self.end_headers()
        if send:
            self.wfile.write(part)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def guarded(data: bytes) -> Iterator[str]:
    """The address of a server that wants a password and a signature, with the password."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Guarded, data)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://reader:PLANTED-word@127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def everything_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Each file's bytes as text, Parquet as its values and its metadata, tars also by member."""
    for path in (path for path in folder.rglob("*") if path.is_file()):
        yield str(path), f"{path} " + path.read_bytes().decode("latin-1")
        if path.suffix == ".parquet":
            yield str(path), f"{pq.read_table(path).to_pylist()} {pq.read_schema(path).metadata}"
        elif path.suffix == ".tar":
            with tarfile.open(path) as tar:
                for member in tar:
                    stream = tar.extractfile(member)
                    yield f"{path}:{member.name}", (stream or io.BytesIO()).read().decode("latin-1")


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    with runs_inline():
        yield


def test_a_run_tells_its_secrets_to_nobody(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    output = tmp_path / "out"
    options = "reading.storage_options={s3: {key: PLANTED-key, secret: PLANTED-secret, token: PLANTED-token,"
    options += " client_kwargs: {aws_secret_access_key: PLANTED-deep}}, sftp: {password: PLANTED-pass}}"
    haste = ("reading.request_retries=0", "reading.request_seconds=5")
    with guarded(write_warc(tmp_path / "in.warc").read_bytes()) as server:
        url = f"{server}/dump/in.warc?{SIGNED}"
        assert main(arguments([url], output, options, *haste)) == 0
        assert main(["report", str(output)]) == 0
        assert main(["card", str(output)]) == 0
        assert main(["export", str(output), "--format", "parquet"]) == 0
        (page,) = pq.read_table(output / "index.parquet").slice(0, 1)["url"].to_pylist()
        assert main(["explain", str(output), page, "--input", url]) == 0
        before = (output / "manifest.json").read_bytes()
        again = url.replace("PLANTED-one", "PLANTED-two")  # signed anew, and no options: they are in the environment
        capfd.readouterr()
        assert main(arguments([again], output, *haste)) == 0
        assert "nothing to do" in capfd.readouterr().out
        assert (output / "manifest.json").read_bytes() == before
    assert main(arguments([url], tmp_path / "none", options, *haste)) == 2  # nobody answers any more
    assert main(arguments([url], tmp_path / "none", "reading.storage_options={s3: PLANTED-text}")) == 2
    assert main(["explain", str(output), page]) == 2
    told = capfd.readouterr()
    assert "127.0.0.1" in told.err
    assert "PLANTED" not in told.out + told.err
    leaks = [name for name, text in everything_in(output) if "PLANTED" in text]
    assert leaks == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:pa%40ss@host/x.warc.gz", "https://***@host/x.warc.gz"),
        ("input ftp://me:pa/s#s@host/x: no such file", "input ftp://***@host/x: no such file"),
        ("https://token@host/x", "https://***@host/x"),
        ("https://h/x?X-Amz-Date=1&versionId=7&X-Amz-Signature=ab", "https://h/x?X-Amz-Date=***&versionId=7&X-Amz-Signature=***"),
        ("https://h/x?sv=2020&sig=ab%3D&se=2", "https://h/x?sv=2020&sig=***&se=2"),
        ("https://h/x?Expires=1&Signature=a~b&Key-Pair-Id=K", "https://h/x?Expires=1&Signature=***&Key-Pair-Id=***"),
        ("https://h/x?X%2DGoog%2DSignature=ab", "https://h/x?X%2DGoog%2DSignature=***"),
        ("two: https://a:b@h/1 and s3://c:d@e/2", "two: https://***@h/1 and s3://***@e/2"),
    ],
)  # fmt: skip
def test_passwords_and_signatures_are_hidden_and_the_rest_is_told(text: str, shown: str) -> None:
    assert redacted(text) == shown
    assert redacted({"a": [text, {"b": text}]}) == {"a": [shown, {"b": shown}]}


@pytest.mark.parametrize(
    "text",
    [
        "https://h:8080/p@2x.jpg?page=2#a",
        "https://[::1]:80/x@y",
        "abfs://container@account.dfs.core.windows.net/x",
        "s3://bucket/key=value/x.parquet",
        "mail me@example.org; a = b",
        "",
    ],
)
def test_what_holds_no_secret_stays_as_it_is(text: str) -> None:
    assert redacted(text) == text


def test_secret_options_are_left_out_and_the_others_stay() -> None:
    plain = {"s3": {"anon": True, "endpoint_url": "https://h"}, "gs": {"token": "anon"}, "az": {}}
    assert redacted({"storage_options": plain}) == {"storage_options": plain}
    secret = {"gs": {"token": {"private_key": "x"}}, "http": {"headers": {"Authorization": "Bearer x", "Accept": "y"}}}
    assert redacted({"storage_options": secret}) == {"storage_options": {"http": {"headers": {"Accept": "y"}}}}


def test_a_traceback_hides_secrets(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    with pytest.raises(SystemExit):
        main(["--version"])
    error = RuntimeError("https://me:PLANTED@host/x?sig=PLANTED")
    sys.excepthook(RuntimeError, error, None)
    line = capsys.readouterr().err
    assert "https://***@host/x?sig=***" in line
    assert "PLANTED" not in line
