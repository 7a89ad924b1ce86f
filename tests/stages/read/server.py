"""A file server on loopback that answers ranges, and can be told to fail."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class FileServer(ThreadingHTTPServer):
    """Serves the files of a folder. `asked` lists (path, first byte, last byte); `errors` are answered first."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.asked: list[tuple[str, int, int]] = []
        self.errors: list[int] = []
        self.ranges = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """GET and HEAD, with Range."""

    server: FileServer
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path = self.server.folder / self.path.lstrip("/")
        if self.server.errors and body:
            return self.reply(self.server.errors.pop(0), b"", True)
        if not path.is_file():
            return self.reply(404, b"", True)
        data = path.read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not asked or not self.server.ranges:
            return self.reply(200, data, body)
        first, last = int(asked[1]), int(asked[2] or len(data) - 1)
        if first >= len(data):
            return self.reply(416, b"", True)
        if body:
            self.server.asked.append((self.path, first, last))
        return self.reply(206, data[first : last + 1], body, f"bytes {first}-{last}/{len(data)}")

    def reply(self, status: int, data: bytes, body: bool, content_range: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", '"abc"')
        if self.server.ranges:
            self.send_header("Accept-Ranges", "bytes")
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def serving(folder: Path) -> Iterator[FileServer]:
    """A running server."""
    server = FileServer(folder)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
