"""A server on loopback that takes what hooks send."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PRIVATE = "allow_private: ['127.0.0.1/32']"


class Listener:
    """Keeps path, headers and body of each request; answers with `status`, or not at all while `hangs`."""

    def __init__(self) -> None:
        self.received: list[tuple[str, dict[str, str], Any]] = []
        self.status, self.hangs = 201, False
        self.released = threading.Event()
        self.address = ""

    def bodies(self, path: str) -> list[Any]:
        return [body for where, _, body in self.received if where == path]


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            listener.received.append((self.path, dict(self.headers), body))
            if listener.hangs:
                listener.released.wait()
                return
            self.send_response(listener.status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield listener
    finally:
        listener.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
