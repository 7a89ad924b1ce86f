"""Image URLs of which nearly all fail, the site that answers for them, and the fetch stage over them in one process."""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.config import FetchingConfig
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.engines.worker import start_worker
from obelics_pipeline.stages.fetch.requests import REQUESTS
from obelics_pipeline.stages.fetch.robots import MAX_ROBOTS_BYTES
from obelics_pipeline.stages.fetch.stage import fetch_unit, fetch_unit_of, fetch_units
from tests.faults.runs import ROOT
from tests.stages.fetch.site import Behaviour, Request, Site, answer, picture, raw, redirect, reset

HEAVY_EVERY = 250  # one URL of so many costs megabytes on the wire


def endless(sock: socket.socket, request: Request) -> None:
    """A body that never ends."""
    sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + picture())
    while True:
        sock.sendall(bytes(2**18))


LIGHT: dict[str, tuple[Behaviour, str | None]] = {
    "good": (answer(200, picture()), None),
    "announced": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", bytes(2**16)), "too_large"),
    "missing": (answer(404, bytes(2**14)), "http_404"),
    "broken-server": (answer(500, bytes(2**14)), "http_500"),
    "reset": (reset, "reset"),
    "page": (answer(200, b"<!doctype html><p>" + b"a" * 2**16, Content_Type="image/png"), "html"),
    "bytes": (answer(200, b"\0" * 2**18, Content_Type="image/png"), "not_an_image"),
    "cut-off": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n", bytes(2**16)), "incomplete_body"),
    "cut-picture": (answer(200, picture(size=(400, 300))[:-200]), "truncated_image"),
    "broken-picture": (answer(200, b"\xff\xd8\xff" + bytes(2**18)), "corrupt_image"),
    "circle": (lambda sock, request: redirect(request.path)(sock, request), "too_many_redirects"),
    "astray": (redirect("ftp://127.0.0.1/"), "bad_redirect"),
    "garbage": (raw(b"\x15\x03\x01\x00\x02\x02\x46\r\n\r\n"), "not_http"),
    "head-without-end": (raw(b"HTTP/1.1 200 OK\r\n" + (b"X-A: " + b"a" * 60_000 + b"\r\n") * 90), "not_http"),
    "opted-out": (answer(200, bytes(2**14), X_Robots_Tag="noai"), "noai_header"),
}
HEAVY: dict[str, tuple[Behaviour, str | None]] = {
    "endless": (endless, "too_large"),
    "large-cut-off": (
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 18000000\r\n\r\n", bytes(17_000_000)),
        "incomplete_body",
    ),
    "large-broken": (answer(200, b"\xff\xd8\xff" + bytes(18_000_000)), "corrupt_image"),
    "large-bytes": (answer(200, bytes(18_000_000)), "not_an_image"),
}
ALL = LIGHT | HEAVY


def faulty_site() -> Site:
    """Answers by the kind that a path begins with."""
    return Site(fallback=lambda sock, request: _behaviour(request.path)(sock, request))


def site_of_long_rules() -> Site:
    """A proxy: of every host, a robots.txt as long as is read, and pictures."""
    lines = "".join(f"Disallow: /{n}\n" for n in range(40_000))
    rules = answer(200, f"User-agent: *\n{lines}".encode()[:MAX_ROBOTS_BYTES])
    good = answer(200, picture())
    return Site(fallback=lambda sock, asked: (rules if asked.path.endswith("/robots.txt") else good)(sock, asked))


def _behaviour(path: str) -> Behaviour:
    return ALL[kind][0] if (kind := path.split("/")[1]) in ALL else answer(404)


def kinds_of(count: int) -> Iterator[str]:
    """The kind of each of so many URLs, in turn."""
    light, heavy = list(LIGHT), list(HEAVY)
    for n in range(count):
        share, is_light = divmod(n, HEAVY_EVERY)
        yield light[n % len(light)] if is_light else heavy[share % len(heavy)]


def reasons_of(count: int) -> Counter[str | None]:
    """Why so many URLs fail; None for the good."""
    return Counter(ALL[kind][1] for kind in kinds_of(count))


@dataclass(frozen=True)
class Fetched:
    """What a process that fetched them says: URLs by reason, and its peak in MiB, with and without its children."""

    reasons: Counter[str | None]
    peak: float
    own: float


def fetch_apart(folder: Path, site: Site, kinds: Iterable[str]) -> Fetched:
    """Fetch a URL of each of these kinds by the fetch stage, in a process of its own."""
    return fetch_urls_apart(folder, site, [site.url(f"/{kind}/{n}") for n, kind in enumerate(kinds)], {"no_proxy": "*"})


def fetch_urls_apart(folder: Path, site: Site, urls: Sequence[str], environment: Mapping[str, str]) -> Fetched:
    """Fetch these URLs by the fetch stage, in a process of its own with these variables in its environment."""
    pq.write_table(
        pa.table([[0] * len(urls), ["documents"] * len(urls), urls], schema=REQUESTS), folder / "asked.parquet"
    )
    command = [sys.executable, "-m", "tests.faults.faulty_urls", str(folder), str(site.port)]
    given = os.environ | {"PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(command, env=given, stdout=subprocess.PIPE, check=True, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    return Fetched(Counter(dict(told["reasons"])), told["peak"], told["own"])


def _fetch(folder: Path, port: int) -> None:
    start_worker(os.getppid(), str(folder))
    config = FetchingConfig(
        buckets=1, per_host=32, retries=0, timeout_seconds=60.0, allow_private=(f"127.0.0.1:{port}",)
    )
    (value,) = fetch_units(Partitions(folder, {"0": ["asked.parquet"]}), folder / "fetch", config, {})
    work = partial(fetch_unit, folder=folder / "fetch", request_folder=folder, images=folder / "images", config=config)
    manifest = work(fetch_unit_of(value, {}))
    reasons = Counter(pq.read_table(manifest.path(folder / "fetch", "data"), columns=["reason"])["reason"].to_pylist())
    own, children = _peak(os.getpid()), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
    children = max([children, *map(_peak, children_of(os.getpid()))])
    print(json.dumps({"reasons": list(reasons.items()), "peak": own + children, "own": own}))


def _peak(process: int) -> float:
    """MiB. Not ru_maxrss, which is that of the parent until it is outgrown."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 2**10


def children_of(process: int) -> list[int]:
    """The processes that this one started, and that are there."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == process and state != "Z":
                found.append(int(entry.name))
    return found


if __name__ == "__main__":
    _fetch(Path(sys.argv[1]), int(sys.argv[2]))
