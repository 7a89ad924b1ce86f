"""What an image costs to fetch: CPU of a worker, with a connection for each image and with connections that are kept.

    python benchmarks/fetching.py [--images N] [--bytes N] [--rounds N] [--plain]

A server on loopback, in a process of its own, sends a JPEG again and again (a comment in it differs), over TLS with a
certificate that is made for it. It answers below /close/ with `Connection: close`, so that each image costs a
connection, as when none was kept; below /keep/ it leaves the connection open. The two take turns, round by round.
CPU is that of this process alone. "client": the guard's check, connecting, the handshake, reading the body. "unit": all
that the stage `fetch` does, but for decoding, which is done in another process.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import socket
import ssl
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.body import BodyBudget
from obelics_pipeline.net.client import GuardedClient
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.target import parse_target
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore

WAYS = ("close", "keep")
SECONDS = 30.0  # of a request
MAX_BYTES = 20 * 2**20  # of an image


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
        content = str(self.server.connections).encode()
        if self.path.endswith(".jpg"):
            comment = b"\xff\xfe\x00\x22" + self.path.encode().rjust(32)[:32]
            content = self.server.content[:2] + comment + self.server.content[2:]
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Length", str(len(content)))
        if self.path.startswith("/close"):
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def serve(folder: Path | None, content: bytes, told: Connection) -> None:
    """Serve for ever, and tell the port."""
    server = Server(("127.0.0.1", 0), Handler)
    server.content = content
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


def photo(size: int) -> bytes:
    """A JPEG of about so many bytes: noise, of which each pixel costs some."""
    import numpy as np
    from PIL import Image

    side = max(8, int((size / 0.61) ** 0.5))  # bytes a pixel of noise, at a quality of 75
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (side, side, 3), np.uint8)).save(file, "JPEG")
    return file.getvalue()


def by_client(site: str, way: str, images: int, config: FetchingConfig) -> None:
    """Ask for all, one after the other, by one client."""
    with GuardedClient(config) as client:
        for n in range(images):
            body(client, f"{site}/{way}/{n}.jpg")


def by_unit(site: str, way: str, images: int, config: FetchingConfig) -> None:
    """Fetch all by one unit of the stage: robots.txt, turns, decoding (in a process of its own), storing, syncing."""
    with tempfile.TemporaryDirectory() as folder:
        urls = [f"{site}/{way}/{n}.jpg" for n in range(images)]
        results = fetch_bucket(urls, config, ImageStore(Path(folder) / "store"), {}, Path(folder) / "journal")
        assert {result.reason for result in results} == {None}


PARTS: dict[str, Callable[[str, str, int, FetchingConfig], None]] = {"client": by_client, "unit": by_unit}


def body(client: GuardedClient, url: str) -> bytes:
    """One body."""
    budget = BodyBudget(MAX_BYTES, 1, MAX_BYTES)
    with client.open(parse_target(url), Deadline(SECONDS)) as answer, budget.request():
        answer.demand_body()
        return answer.read_body(MAX_BYTES, budget)


def main() -> None:
    """Measure both ways in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100, help="of a round")
    parser.add_argument("--bytes", type=int, default=240_000, help="of an image, about")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--plain", action="store_true", help="http, without TLS")
    args = parser.parse_args()
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    with tempfile.TemporaryDirectory() as folder:
        if not args.plain:
            make_certificate(Path(folder))
        fork = multiprocessing.get_context("fork")
        here, there = fork.Pipe()
        certificate = None if args.plain else Path(folder)
        process = fork.Process(target=serve, args=(certificate, photo(args.bytes), there), daemon=True)
        process.start()
        site = f"http{'' if args.plain else 's'}://127.0.0.1:{here.recv()}"
        for part, fetch in PARTS.items():
            measure(part, fetch, site, args.images, args.rounds)
        process.terminate()


def measure(
    part: str, fetch: Callable[[str, str, int, FetchingConfig], None], site: str, images: int, rounds: int
) -> None:
    """Print milliseconds of CPU per image and connections per round, of each way."""
    config = FetchingConfig.model_validate({"allow_private": (f"127.0.0.1:{parse_target(site).port}",)})
    taken: dict[str, list[float]] = {way: [] for way in WAYS}
    connections = dict.fromkeys(WAYS, 0)
    for number in range(rounds + 1):
        for way in WAYS:
            before = connections_of(site, config)
            start = time.process_time()
            fetch(site, way, images, config)
            seconds = time.process_time() - start
            connections[way] = connections_of(site, config) - before - 1
            if number:  # the first round warms up
                taken[way].append(seconds / images)
    for way in WAYS:
        low, middle, high = min(taken[way]), statistics.median(taken[way]), max(taken[way])
        print(f"{part:<8}{way:<7}{middle * 1e3:6.2f} ms of CPU an image ({low * 1e3:.2f} to {high * 1e3:.2f}), "
              f"{connections[way]} connections for {images} images")  # fmt: skip
    quotients = (keep / close for keep, close in zip(taken["keep"], taken["close"], strict=True))
    print(f"{part:<8}keep / close, median of the rounds: {statistics.median(quotients):.2f}")


def connections_of(site: str, config: FetchingConfig) -> int:
    """How many there have been, this one among them."""
    with GuardedClient(config) as client:
        return int(body(client, f"{site}/count"))


if __name__ == "__main__":
    main()
