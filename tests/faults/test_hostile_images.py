"""Images made to do harm: a worker stays small, quick and away from where it must not go."""

import gzip
import json
import os
import struct
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from tests.stages.fetch.site import Behaviour, Site, answer, config, picture, raw, redirect, reset

FETCH = """
import json, re, sys
from pathlib import Path
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.stages.fetch.bucket import fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
def peak():  # ru_maxrss is the parent's, too
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
folder, port, paths = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
config = FetchingConfig(allow_private=[f"127.0.0.1:{port}"], per_host=16, retries=0, timeout_seconds=30)
urls = [f"http://127.0.0.1:{port}{path}" for path in paths]
before = peak()
results = fetch_bucket(urls, config, ImageStore(folder / "store"), {}, folder / "journal")
reasons = {r.url.rpartition("/")[2]: r.reason for r in results}
print(json.dumps([reasons, peak() - before]))
"""


def bomb_png(side: int) -> bytes:
    """A sound PNG of side x side pixels, one bit each, that compresses a thousandfold."""
    squeeze = zlib.compressobj(9)
    data = b"".join(squeeze.compress(bytes(1 + (side + 7) // 8)) for _ in range(side)) + squeeze.flush()

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def flood(sock: object, request: object) -> None:
    sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + picture())  # type: ignore[attr-defined]
    for _ in range(1000):
        sock.sendall(bytes(2**18))  # type: ignore[attr-defined]


def test_bombs_cost_a_worker_neither_memory_nor_more_than_themselves(tmp_path: Path) -> None:
    gzip_bomb = gzip.compress(b"\x89PNG\r\n\x1a\n" + bytes(200_000_000), 1)
    kinds: dict[str, tuple[Behaviour, str | None]] = {
        "png": (answer(200, bomb_png(30_000)), "too_many_pixels"),
        "just-within-pillows-guard": (answer(200, bomb_png(9_400)), "too_many_pixels"),
        "gzip": (answer(200, gzip_bomb, Content_Encoding="gzip"), "too_large"),
        "endless": (flood, "too_large"),
        "large": (answer(200, picture("BMP", (2500, 2000))), None),  # 15 MB each
    }
    pages = {f"/{name}{n}": behaviour for name, (behaviour, _) in kinds.items() for n in range(4)}
    with Site(pages) as site:
        command = [sys.executable, "-c", FETCH, str(tmp_path), str(site.port), *pages]
        done = subprocess.run(command, env=dict(os.environ, PYTHONPATH=os.getcwd()), capture_output=True, check=True)
    reasons, more = json.loads(done.stdout.splitlines()[-1])
    assert reasons == {f"{name}{n}": reason for name, (_, reason) in kinds.items() for n in range(4)}
    assert more < 415 * 1024  # kB


def test_no_trick_leads_to_a_private_address_and_the_good_images_survive(tmp_path: Path) -> None:
    with Site(fallback=answer(200, picture())) as secret:
        targets = [
            f"http://{host}:{secret.port}/{n}"
            for n, host in enumerate(
                ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]",
                 "0", "127.0.0.1.", "[64:ff9b::7f00:1]"]
            )
        ]  # fmt: skip
        pages: dict[str, Behaviour] = {f"/r{n}": redirect(target) for n, target in enumerate(targets)}
        pages |= {f"/two{n}": redirect(f"/r{n}") for n in range(len(targets))}
        pages["/robots.txt"] = redirect(secret.url("/robots.txt"))
        with Site({"/robots.txt": answer(404)} | {k: v for k, v in pages.items() if k != "/robots.txt"}) as site:
            site.pages["/good"] = answer(200, picture())
            urls = [*targets, *map(site.url, [*site.pages])]
            results = fetch_bucket(urls, config(site), ImageStore(tmp_path), {}, tmp_path / "journal")
        with Site(pages) as cunning:
            cunning.pages["/good"] = answer(200, picture())
            url = cunning.url("/good")
            by_robots = fetch_bucket([url], config(cunning), ImageStore(tmp_path), {}, tmp_path / "journal2")
        assert secret.log == []
    reasons = {result.url: result.reason for result in results}
    assert reasons.pop(site.url("/good")) is None
    assert reasons.pop(site.url("/robots.txt")) == "http_404"
    assert set(reasons.values()) <= {"private_address", "bad_redirect"}
    assert by_robots[0].reason == "robots_unavailable"


def test_a_hostile_crowd_ends_with_a_reason_for_each(tmp_path: Path) -> None:
    drip = raw(b"HTTP/1.1 200 OK\r\n", *[b"X-A: b\r\n"] * 200, pause=0.1)
    crowd: dict[str, tuple[Behaviour, str | None]] = {
        "drip": (drip, "timeout"),
        "loop": (redirect("/loop0"), "too_many_redirects"),
        "garbage": (raw(b"\x15\x03\x01\x00\x02\x02\x46\r\n\r\n"), "not_http"),
        "reset": (reset, "reset"),
        "good": (answer(200, picture()), None),
    }
    pages = {f"/{name}{n}": behaviour for name, (behaviour, _) in crowd.items() for n in range(4)}
    with Site(pages) as site:
        settings = config(site, timeout_seconds=1.0, per_host=8, max_host_failures=100)
        results = fetch_bucket([site.url(p) for p in pages], settings, ImageStore(tmp_path), {}, tmp_path / "journal")
    assert Counter(result.reason for result in results) == {reason: 4 for _, reason in crowd.values()}
