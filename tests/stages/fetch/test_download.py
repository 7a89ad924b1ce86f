"""What a request that failed leaves behind: its reason, and nothing of what it had read."""

from __future__ import annotations

import gc
import io
import socket
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import ClassVar

import pytest

from obelics_pipeline.net import body as net_body
from obelics_pipeline.net import client
from obelics_pipeline.stages.fetch import bucket
from obelics_pipeline.stages.fetch.download import download
from tests.stages.fetch.site import Behaviour, Request, Site, answer, fetch, picture, raw, redirect, reset

LARGE = 2 * 2**20  # bytes, more than a request may hold without asking


def endless(sock: socket.socket, request: Request) -> None:
    """A body that never ends."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        sock.sendall(b"10000\r\n" + bytes(0x10000) + b"\r\n")


CUT_OFF = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n", bytes(9999))
NO_IMAGE = answer(200, b"<!doctype html>" + bytes(LARGE))
ENDS: dict[str, Behaviour] = {
    "too_large": endless,
    "incomplete_body": CUT_OFF,
    "reset": reset,
    "http_500": answer(500, bytes(9999)),
    "corrupt_image": answer(200, b"\xff\xd8\xff" + bytes(LARGE)),
    "bad_redirect": redirect("ftp://127.0.0.1/"),
    "noai_header": answer(200, bytes(9999), X_Robots_Tag="noai"),
}


class Buffer(io.BytesIO):
    """What a body is gathered in; it can be watched."""


class Body(bytes):
    """A body that tells when it goes."""

    alive: ClassVar[Counter[str]] = Counter()

    def __new__(cls, content: bytes) -> Body:
        cls.alive["made"] += 1
        cls.alive["now"] += 1
        return super().__new__(cls, content)

    def __del__(self) -> None:
        self.alive["now"] -= 1


@pytest.fixture
def buffers(monkeypatch: pytest.MonkeyPatch) -> Iterator[weakref.WeakSet[Buffer]]:
    """The buffers of bodies that there are now; bodies count themselves meanwhile. The collector is off."""
    found: weakref.WeakSet[Buffer] = weakref.WeakSet()

    def buffer() -> Buffer:
        one = Buffer()
        found.add(one)
        Body.alive["begun"] += 1
        return one

    Body.alive.clear()
    monkeypatch.setattr(net_body, "io", SimpleNamespace(BytesIO=buffer))
    monkeypatch.setattr(client, "read_body", lambda *given: Body(net_body.read_body(*given)))
    monkeypatch.setattr(bucket, "download", lambda *given: Body(download(*given)))
    gc.collect()
    gc.disable()
    yield found
    gc.enable()


@contextmanager
def frames_left() -> Iterator[Counter[str]]:
    """Functions whose frames, with all that they held, wait for the garbage collector when the block is left."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        found.update(o.f_code.co_qualname for o in gc.garbage if isinstance(o, FrameType) and _is_of_fetching(o))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _is_of_fetching(frame: FrameType) -> bool:
    return any(part in frame.f_code.co_filename for part in ("stages/fetch", "pipeline/net", "http/client"))


@pytest.mark.parametrize("reason", ENDS)
def test_a_request_that_failed_keeps_nothing_of_what_it_read(reason: str, tmp_path: Path) -> None:
    pages = {f"/{n}": ENDS[reason] for n in range(3)}
    with Site(pages) as site, frames_left() as left:
        found = fetch(site, tmp_path, *pages, max_bytes=LARGE * 2)
    assert {result.reason for result in found.values()} == {reason}
    assert not left


def test_an_image_from_the_second_of_two_addresses_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site({"/a": answer(200, picture())}) as site:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, site.port)) for host in ("127.0.0.2", "127.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_kwargs: found)
        monkeypatch.setattr(site, "url", lambda path: f"http://two.example:{site.port}{path}")
        with frames_left() as left:
            results = fetch(site, tmp_path, "/a", allow_private=("127.0.0.0/8",))
    assert results["/a"].status == "ok"
    assert not left


def test_after_many_failures_no_body_is_alive(buffers: weakref.WeakSet[Buffer], tmp_path: Path) -> None:
    kinds = [*ENDS.values(), NO_IMAGE, answer(200, picture()[:-20]), answer(200, picture())]
    pages = {f"/{n}": kinds[n % len(kinds)] for n in range(10 * len(kinds))}
    with Site(pages) as site:
        found = fetch(site, tmp_path, *pages, max_bytes=LARGE * 2)
    assert {result.reason for result in found.values()} == {*ENDS, "html", "truncated_image", None}
    assert Body.alive["begun"] == 60  # of the others no body is read
    assert Body.alive["made"] == 80  # four kinds come whole, and are counted as they are read and as they are handed on
    assert Body.alive["now"] == 0
    assert not buffers
