"""What an image costs to fetch: CPU of a worker, with a connection for each image and with connections that are kept.

    python benchmarks/fetching.py [--images N] [--bytes N] [--rounds N] [--plain]

A server on loopback, in a process of its own, sends the same bytes again and again, over TLS with a certificate that is
made for it. It answers below /close/ with `Connection: close`, so that each image costs a connection, as when none was
kept; below /keep/ it leaves the connection open. The two take turns, round by round, and each round is a unit's client.
CPU is that of this process alone: the guard's check, connecting, the handshake, reading the body. Nothing is decoded.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
import ssl
import statistics
import subprocess
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.body import BodyBudget
from obelics_pipeline.net.client import GuardedClient
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.target import parse_target

WAYS = ("close", "keep")
SECONDS = 30.0  # of a request


class Server(ThreadingHTTPServer):
    """A site of one image; counts its connections."""

    daemon_threads = True
    content = b""
    connections = 0
    tls: ssl.SSLContext | None = None

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept one connection."""
        sock, address = super().get_request()
        self.connections += 1
        return sock, address

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Serve one connection, in its own thread."""
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().finish_request(self.tls.wrap_socket(request, server_side=True) if self.tls else request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers with the image, or with the number of connections."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """Answer."""
        content = str(self.server.connections).encode() if self.path == "/count" else self.server.content
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        if not self.path.startswith("/keep"):
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def serve(folder: Path | None, size: int, told: Connection) -> None:
    """Serve for ever, and tell the port."""
    server = Server(("127.0.0.1", 0), Handler)
    server.content = os.urandom(size)
    if folder is not None:
        server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.tls.load_cert_chain(folder / "pem", folder / "key")
    told.send(server.server_address[1])
    server.serve_forever()


def make_certificate(folder: Path) -> None:
    """A certificate of 127.0.0.1 that this process trusts."""
    command = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(
        ["openssl", *command.split(), "-keyout", "key", "-out", "pem"], cwd=folder, check=True, capture_output=True
    )
    os.environ["SSL_CERT_FILE"] = str(folder / "pem")


def fetch(client: GuardedClient, url: str, size: int) -> bytes:
    """One body."""
    budget = BodyBudget(size, 1, size)
    deadline = Deadline(SECONDS)
    with client.open(parse_target(url), deadline) as answer, budget.request():
        answer.demand_body()
        return answer.read_body(size, budget)


def main() -> None:
    """Measure both ways in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100, help="of a round")
    parser.add_argument("--bytes", type=int, default=240_000, help="of an image")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--plain", action="store_true", help="http, without TLS")
    args = parser.parse_args()
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    with tempfile.TemporaryDirectory() as folder:
        if not args.plain:
            make_certificate(Path(folder))
        here, there = multiprocessing.get_context("fork").Pipe()
        process = multiprocessing.get_context("fork").Process(
            target=serve, args=(None if args.plain else Path(folder), args.bytes, there), daemon=True
        )
        process.start()
        measure(f"http{'' if args.plain else 's'}://127.0.0.1:{here.recv()}", args.images, args.bytes, args.rounds)
        process.terminate()


def measure(site: str, images: int, size: int, rounds: int) -> None:
    """Print milliseconds of CPU per image and connections per round, of each way."""
    port = parse_target(site).port
    config = FetchingConfig.model_validate({"allow_private": (f"127.0.0.1:{port}",)})
    taken: dict[str, list[float]] = {way: [] for way in WAYS}
    connections = dict.fromkeys(WAYS, 0)
    for number in range(rounds + 1):
        for way in WAYS:
            client = GuardedClient(config)
            before = int(fetch(client, f"{site}/count", size))
            start = time.process_time()
            for n in range(images):
                assert len(fetch(client, f"{site}/{way}/{n}.jpg", size)) == size
            seconds = time.process_time() - start
            if number:  # the first one warms up
                taken[way].append(seconds / images)
                connections[way] = int(fetch(client, f"{site}/count", size)) - before - 1
    for way in WAYS:
        low, middle, high = min(taken[way]), statistics.median(taken[way]), max(taken[way])
        print(f"{way:<6}{middle * 1e3:6.2f} ms of CPU an image ({low * 1e3:.2f} to {high * 1e3:.2f}), "
              f"{connections[way]} connections for {images} images")  # fmt: skip
    print(f"keep / close: {statistics.median(k / c for k, c in zip(taken['keep'], taken['close'], strict=True)):.2f}")


if __name__ == "__main__":
    main()
