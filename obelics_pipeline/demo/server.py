"""The demo's image server: a plain HTTP forward proxy on loopback in which every host of the site answers.

It opens no connection itself. With `http_proxy` set to its address, `http://any-host.example/picture.jpg` is drawn
and answered, or fails in the way that `site.yaml` gives to that URL.
"""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from obelics_pipeline.demo.pages import SITE, hosts, peculiarities
from obelics_pipeline.demo.pictures import draw

SLOW_SECONDS = 3600.0  # longer than any patience, on any machine; cut short when the server stops

ROBOTS_OPEN = b"User-agent: *\nDisallow:\n"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, slow_seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.slow_seconds = slow_seconds
        self.stopping = threading.Event()
        self.known = frozenset(hosts())
        self.asked: list[str] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or, on a connection that is kept, a body waits until its head is acknowledged
    server: _Server

    def do_GET(self) -> None:
        """Answer one absolute-form (or, with a Host header, origin-form) request."""
        url = self.path if "://" in self.path else f"http://{self.headers.get('Host', '')}{self.path}"
        self.server.asked.append(url)
        split = urlsplit(url)
        if split.scheme != "http" or split.hostname not in self.server.known:
            self.answer(403, b"no host of this site", "text/plain")
        elif split.path == "/robots.txt":
            self.answer(200, robots(split.hostname), "text/plain")
        else:
            how = peculiarities()["images"].get(url, {})
            _ANSWERS[how.get("answer", "picture")](self, url, how)

    def answer(
        self, status: int, body: bytes, media: str, headers: dict[str, str] | None = None, claim: int = 0
    ) -> None:
        """Send one answer; `claim` bytes more than there are make it a truncated one."""
        self.send_response(status)
        for name, value in {"Content-Type": media, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + claim))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.close_connection or claim > 0

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The same Date in every answer: nothing that comes from here depends on the clock."""
        return "Sun, 04 May 2031 06:00:00 GMT"

    def log_message(self, format: str, *args: Any) -> None:
        """The run says what was fetched; the server is silent."""


def robots(host: str) -> bytes:
    """The robots.txt of a host: its file in the site, else one that allows everything."""
    path = SITE / host / "robots.txt"
    return path.read_bytes() if path.is_file() else ROBOTS_OPEN


def _picture(handler: _Handler, url: str, how: dict[str, Any]) -> None:
    drawn = _drawn(url)
    if drawn is None:
        handler.answer(404, b"<html><p>No such page here.</p></html>", "text/html")
        return
    handler.answer(200, drawn[0], drawn[1], how.get("headers"))


@cache
def _drawn(url: str) -> tuple[bytes, str] | None:
    return draw(url)


def _missing(handler: _Handler, url: str, how: dict[str, Any]) -> None:
    handler.answer(how.get("status", 404), b"<html><p>Not found.</p></html>", "text/html")


def _slow(handler: _Handler, url: str, how: dict[str, Any]) -> None:
    handler.server.stopping.wait(handler.server.slow_seconds)
    handler.close_connection = True


def _redirect(handler: _Handler, url: str, how: dict[str, Any]) -> None:
    handler.answer(302, b"", "text/html", {"Location": how["to"]})


def _page(handler: _Handler, url: str, how: dict[str, Any]) -> None:
    handler.answer(200, b"<!doctype html><title>Sign in</title><p>Please sign in to see this picture.</p>", "text/html")


def _truncated(handler: _Handler, url: str, how: dict[str, Any]) -> None:
    body, media = _drawn(url) or (b"", "image/jpeg")
    handler.answer(200, body[: len(body) // 2], media, claim=len(body) - len(body) // 2)


def _broken(handler: _Handler, url: str, how: dict[str, Any]) -> None:
    body, media = _drawn(url) or (b"", "image/jpeg")
    handler.answer(200, b"\x00" * 64 + body[64:], media)


def _huge(handler: _Handler, url: str, how: dict[str, Any]) -> None:
    handler.answer(200, huge_png(), "image/png")


def _vector(handler: _Handler, url: str, how: dict[str, Any]) -> None:
    drawing = (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><circle cx="200" cy="150" r="90"/></svg>'
    )
    handler.answer(200, drawing, "image/svg+xml")


_ANSWERS: dict[str, Callable[[_Handler, str, dict[str, Any]], None]] = {
    "picture": _picture, "missing": _missing, "slow": _slow, "redirect": _redirect, "page": _page,
    "truncated": _truncated, "broken": _broken, "huge": _huge, "vector": _vector,
}  # fmt: skip


@cache
def huge_png(side: int = 12_000) -> bytes:
    """A PNG of a few hundred bytes whose header promises `side` x `side` pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(64 * (side // 8 + 1)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@contextmanager
def serve(slow_seconds: float = SLOW_SECONDS) -> Iterator[str]:
    """Serve the site's images while the block runs; gives the address to put into `http_proxy`.

    The host that never answers hangs up after `slow_seconds`.
    """
    with serving(slow_seconds) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}"


@contextmanager
def serving(slow_seconds: float = SLOW_SECONDS) -> Iterator[_Server]:
    """As `serve`, but gives the server, whose `asked` lists every URL that was asked for."""
    server = _Server(slow_seconds)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
