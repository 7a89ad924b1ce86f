"""A hub on loopback that answers as far as `hf_hub_download` asks.

Large files are behind a redirect to another host, small ones come at once. Large files carry their sha256 as
X-Linked-Etag, small ones git's sum of a blob as ETag; both the commit.
"""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "c0ffee" * 6 + "c0ff"


@dataclass
class Hub:
    """`files` by path in the repository; of those in `damaged` a bit is changed, of `broken` half is sent."""

    repo: str
    files: dict[str, bytes]
    damaged: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)  # method, path, Range
    address: str = ""


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(False)

        def do_GET(self) -> None:
            self._answer(True)

        def _answer(self, body: bool) -> None:
            hub.asked.append((self.command, self.path, self.headers.get("Range")))
            for revision in ("main", COMMIT):
                path = self.path.removeprefix(f"/{hub.repo}/resolve/{revision}/")
                if path != self.path and path in hub.files:
                    return self._resolve(path, body)
            if self.path.startswith("/lfs/") and self.path[5:] in hub.files:
                return self._send(self.path[5:], body, {})
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _resolve(self, path: str, body: bool) -> None:
            data = hub.files[path]
            if not path.endswith(".arpa.bin"):
                blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
                return self._send(path, body, {"ETag": f'"{blob}"', "X-Repo-Commit": COMMIT})
            self.send_response(302)
            self.send_header("X-Linked-Etag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("X-Linked-Size", str(len(data)))
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Location", f"{hub.address.replace('127.0.0.1', 'localhost')}/lfs/{path}")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _send(self, path: str, body: bool, headers: dict[str, str]) -> None:
            data = hub.files[path]
            data = data[:-1] + bytes([data[-1] ^ 1]) if path in hub.damaged else data
            start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")[0])
            self.send_response(206 if start else 200)
            for name, value in headers.items():
                self.send_header(name, value)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            if body:
                self.wfile.write(data[start : len(data) // 2] if path in hub.broken else data[start:])
                self.close_connection = path in hub.broken

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
