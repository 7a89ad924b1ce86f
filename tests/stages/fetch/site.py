"""A web site on loopback that misbehaves on request, and keeps a log of who asked for what, and when."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.result import FetchResult


@dataclass
class Request:
    path: str  # or the absolute URL, where the site plays a proxy
    host: str
    headers: dict[str, str]
    start: float = 0.0


Behaviour = Callable[[socket.socket, Request], None]


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Behaviour:
    """A plain answer; underscores in header names stand for hyphens."""
    lines = [f"HTTP/1.1 {status} X"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if not any(name.lower() in ("content_length", "transfer_encoding") for name in headers):
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    return lambda sock, request: sock.sendall(head + body)


def raw(*pieces: bytes, pause: float = 0.0) -> Behaviour:
    """These bytes, with a pause between the pieces; then the connection is closed."""

    def behave(sock: socket.socket, request: Request) -> None:
        for piece in pieces:
            sock.sendall(piece)
            time.sleep(pause)

    return behave


def redirect(location: str, status: int = 302) -> Behaviour:
    return answer(status, Location=location)


def reset(sock: socket.socket, request: Request) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


def slow(seconds: float, then: Behaviour) -> Behaviour:
    def behave(sock: socket.socket, request: Request) -> None:
        time.sleep(seconds)
        then(sock, request)

    return behave


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """The first behaviour at the first request, and so on; the last one for ever."""
    left = list(behaviours)
    return lambda sock, request: (left.pop(0) if len(left) > 1 else left[0])(sock, request)


def picture(format: str = "JPEG", size: tuple[int, int] = (40, 30), colour: str = "red", **options: Any) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, format, **options)
    return file.getvalue()


@dataclass
class Site:
    """Answers by path (or, as a proxy, by URL); `fallback` for what is not listed. robots.txt is 404 unless listed."""

    pages: dict[str, Behaviour] = field(default_factory=dict)
    fallback: Behaviour = field(default_factory=lambda: answer(404))
    tls: Any = None  # an SSLContext
    log: list[Request] = field(default_factory=list)
    most_at_once: Counter[str] = field(default_factory=Counter)

    def __enter__(self) -> Site:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        self._open: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def url(self, path: str) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}{path}"

    def asked(self, path: str) -> int:
        return sum(request.path == path for request in self.log)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with suppress(OSError), sock:
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            request = self._read(sock)
            if request is None:
                return
            host = request.host
            with self._lock:
                self.log.append(request)
                self._open[host] += 1
                self.most_at_once[host] = max(self.most_at_once[host], self._open[host])
            try:
                self.pages.get(request.path, self.fallback)(sock, request)
            finally:
                with self._lock:
                    self._open[host] -= 1
                sock.close()

    def _read(self, sock: socket.socket) -> Request | None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = sock.recv(65536)
            if not piece:
                return None
            head += piece
        first, *lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return Request(first.split(" ")[1], headers.get("host", ""), headers, time.monotonic())


def config(site: Site, **changes: Any) -> FetchingConfig:
    """Quick and impatient, and allowed to ask this site alone."""
    values: dict[str, Any] = {
        "allow_private": (f"127.0.0.1:{site.port}",), "timeout_seconds": 5.0, "retries": 0, "threads": 8,
    }  # fmt: skip
    return FetchingConfig(**(values | changes))


def fetch(site: Site, folder: Path, *paths: str, **changes: Any) -> dict[str, FetchResult]:
    """The results of some paths of a site, by path."""
    urls = {site.url(path): path for path in paths}
    results = fetch_bucket(list(urls), config(site, **changes), ImageStore(folder / "store"), {}, folder / "journal")
    return {urls[result.url]: result for result in results}
