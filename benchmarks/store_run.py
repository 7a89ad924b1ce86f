"""A whole run in an object store whose every answer takes 20 ms: its requests by kind and place, bytes, and waiting.

    python -m benchmarks.store_run [--files N] [--checkout DIR …]

The store speaks S3 on loopback and keeps objects in memory; images come from a server on loopback, 40 kB each. Input is
the small WARC files of `benchmarks.many_units`, with two images a page. The run is done by the code of each checkout,
this one where none is given, so that two versions meet the same server; requests of both are counted alike.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
from PIL import Image

from benchmarks.many_units import made

SECONDS = 0.02  # that each answer of the store takes longer
RUN = "run"  # its folder in a bucket; those in it are counted apart
PICTURE = (320, 240)  # pixels of noise, 40 kB as JPEG
SETTINGS = ["reading.unit_bytes=1000000", "fetch.per_host=8", "shard.target_bytes=8000000"]
WORKERS = 2


class Pictures(BaseHTTPRequestHandler):
    """A forward proxy that answers for every host: a picture of its own for each URL, and robots that may."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer one request."""
        kind, body = "text/plain", b"User-agent: *\nDisallow:\n"
        if not self.path.endswith("robots.txt"):
            kind, body = "image/jpeg", picture(self.path)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def picture(url: str) -> bytes:
    """Noise that follows from the URL."""
    seed = int.from_bytes(hashlib.sha256(url.encode()).digest()[:8], "big")
    noise = np.random.default_rng(seed).integers(0, 256, PICTURE[::-1], dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, "JPEG", quality=60)
    return out.getvalue()


class Counting:
    """A WSGI application before the store: counts each request by kind and by folder of the run, and waits."""

    def __init__(self, store: Callable[..., Iterable[bytes]]) -> None:
        self._store, self._lock = store, threading.Lock()
        self.asked: Counter[tuple[str, str]] = Counter()
        self.bytes: Counter[str] = Counter()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer one request."""
        kind, place = kind_of(environ), place_of(environ)
        time.sleep(SECONDS)
        answer = list(self._store(environ, start))
        with self._lock:
            self.asked[place, kind] += 1
            self.bytes["sent"] += int(environ.get("CONTENT_LENGTH") or 0)
            self.bytes["received"] += sum(map(len, answer))
        return answer


def kind_of(environ: dict[str, Any]) -> str:
    """The kind of a request, as a store bills it."""
    method = str(environ["REQUEST_METHOD"])
    return "LIST" if method == "GET" and "list-type" in environ.get("QUERY_STRING", "") else method


def place_of(environ: dict[str, Any]) -> str:
    """The folder of a run that a request is about. What is asked of the bucket names it as a prefix."""
    prefix = parse_qs(environ.get("QUERY_STRING", "")).get("prefix", [""])[0]
    parts = [part for part in f"{environ['PATH_INFO']}/{prefix}".split("/") if part]
    folder = prefix.endswith("/")
    return parts[2] if len(parts) > (2 if folder else 3) else "the run's own files"


@contextmanager
def serving(application: Counting) -> Iterator[str]:
    """The address of the store."""
    from moto.moto_server.werkzeug_app import MotoRequestHandler
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, application, True, request_handler=MotoRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


@contextmanager
def pictures() -> Iterator[str]:
    """The address of the proxy that has the images."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def run(checkout: Path, source: Path, bucket: str) -> bool:
    """One run by the code of a checkout in a bucket of its own, and what it asked for; whether it ended well."""
    import logging

    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    store = Counting(DomainDispatcherApplication(create_backend_app))
    with serving(store) as address, pictures() as proxy:
        environment = os.environ | {
            "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
            "PYTHONPATH": str(checkout), "http_proxy": proxy, "no_proxy": "127.0.0.1",
        }  # fmt: skip
        made_bucket = "import s3fs, sys; s3fs.S3FileSystem().mkdir(sys.argv[1])"
        subprocess.run([sys.executable, "-c", made_bucket, bucket], env=environment, check=True)
        given = [word for setting in SETTINGS for word in ("--set", setting)]
        command = [sys.executable, "-m", "obelics_pipeline", "run", "default", "--input", f"{source}/*/*.warc.gz",
                   "--output", f"s3://{bucket}/{RUN}", "--workers", str(WORKERS), *given]  # fmt: skip
        store.asked.clear()
        store.bytes.clear()
        began = time.perf_counter()
        done = subprocess.run(command, env=environment, cwd=checkout, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - began
    print(f"\n{checkout.name}: exit code {done.returncode}; {done.stdout.strip().splitlines()[-1]}\n")
    print(table(store))
    total = sum(store.asked.values())
    sizes = ", ".join(f"{name} {size / 1e6:,.1f} MB" for name, size in sorted(store.bytes.items()))
    print(f"\n{total:,} requests, {total * SECONDS:,.0f} s of waiting in all, {seconds:,.0f} s of wall; {sizes}")
    return done.returncode == 0


def table(store: Counting) -> str:
    """Markdown: requests of each kind at each place."""
    kinds = sorted({kind for _, kind in store.asked})
    lines = ["| place | " + " | ".join(kinds) + " |", "|---|" + "--:|" * len(kinds)]
    for place in sorted({place for place, _ in store.asked}):
        lines.append(f"| {place} | " + " | ".join(f"{store.asked[place, kind]:,}" for kind in kinds) + " |")
    sums = (sum(n for (_, of), n in store.asked.items() if of == kind) for kind in kinds)
    return "\n".join([*lines, "| **all** | " + " | ".join(f"{n:,}" for n in sums) + " |"])


def main() -> int:
    """Run each checkout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--checkout", type=Path, nargs="+", default=[Path(__file__).parents[1]])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="obelics-store-") as name:
        made(Path(name), options.files)
        done = [run(of.absolute(), Path(name), f"bucket-{i}") for i, of in enumerate(options.checkout)]
        return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
