"""Serves what the made site has beside its pages, on loopback, as a proxy for every host."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from typing import Any

from benchmarks.planted.safety.site import Site


@contextmanager
def serving(site: Site) -> Iterator[str]:
    """Serve while the block runs; gives the address for `http_proxy`. What is asked for is noted in `site.asked`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            """A picture, or a file in which a host says what it allows."""
            site.asked.append(self.path)
            if self.path in site.pictures:
                media = guess_type(self.path)[0] or "application/octet-stream"
                self.answer(200, site.pictures[self.path](), media, site.headers[self.path])
            elif self.path in site.files:
                media = "application/json" if self.path.endswith("json") else "text/plain"
                self.answer(200, site.files[self.path].encode(), media)
            else:
                self.answer(404, b"not here", "text/plain")

        def do_POST(self) -> None:
            """The service of opt-outs, in Spawning's form."""
            lines = self.rfile.read(int(self.headers["Content-Length"])).decode().splitlines()
            out = set(site.lists.get("service", ()))
            said = {"urls": [{"url": line, "optOut": line in out} for line in lines if line]}
            self.answer(200, json.dumps(said).encode(), "application/json")

        def answer(self, status: int, body: bytes, media: str, headers: dict[str, str] | None = None) -> None:
            """Send one answer."""
            self.send_response(status)
            for name, value in {"Content-Type": media, **(headers or {}), "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
