"""What a request that failed leaves behind: its reason, and nothing of what it had read."""

from __future__ import annotations

import gc
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from obelics_pipeline.stages.fetch.download import demand_downloader
from tests.stages.fetch.site import Behaviour, Request, Site, answer, fetch, picture, raw, redirect, reset

LARGE = 2 * 2**20  # bytes, more than a request may hold without asking


def endless(sock: socket.socket, request: Request) -> None:
    """A body that never ends."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        sock.sendall(b"10000\r\n" + bytes(0x10000) + b"\r\n")


CUT_OFF = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n", bytes(9999))
ENDS: dict[str, Behaviour] = {
    "too_large": endless,
    "incomplete_body": CUT_OFF,
    "reset": reset,
    "http_500": answer(500, bytes(9999)),
    "corrupt_image": answer(200, b"\xff\xd8\xff" + bytes(LARGE)),
    "bad_redirect": redirect("ftp://127.0.0.1/"),
    "noai_header": answer(200, bytes(9999), X_Robots_Tag="noai"),
}


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
    return any(
        part in frame.f_code.co_filename for part in ("stages/fetch", "pipeline/net", "img2dataset", "http/client")
    )


@pytest.mark.parametrize("reason", ENDS)
def test_a_request_that_failed_keeps_nothing_of_what_it_read(reason: str, tmp_path: Path) -> None:
    demand_downloader()
    pages = {f"/{n}": ENDS[reason] for n in range(3)}
    with Site(pages) as site, frames_left() as left:
        found = fetch(site, tmp_path, *pages, max_bytes=LARGE * 2)
    assert {result.reason for result in found.values()} == {reason}
    assert not left


def test_an_image_from_the_second_of_two_addresses_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demand_downloader()
    with Site({"/a": answer(200, picture())}) as site:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, site.port)) for host in ("127.0.0.2", "127.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_kwargs: found)
        monkeypatch.setattr(site, "url", lambda path: f"http://two.example:{site.port}{path}")
        with frames_left() as left:
            results = fetch(site, tmp_path, "/a", allow_private=("127.0.0.0/8",))
    assert results["/a"].status == "ok"
    assert not left
