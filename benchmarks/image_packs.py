"""What images cost in an object store: a file each against packs. `python -m benchmarks.image_packs [--images N …]`.

The store is in memory, behind the door of S3, and each request takes 20 ms. A bucket's images are stored, then
documents with four of them each are read as a tar reads them. Prints requests by kind, bytes, and
seconds of waiting and of CPU.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from upath import UPath

from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.core.storage import files_below
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.result import FetchResult
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.fetch.unit_images import UnitImages
from tests.faults.failing_store import Bucket, behind_s3

SECONDS = 0.02  # of a request
THREADS = 16  # of a bucket that is fetched
SIZES = (4_000, 40_000)  # bytes of an image
SHOWN = 4  # images of a document


class Slow(Bucket):
    """A store whose answers take a while, and that counts them."""

    asked: Counter[str]
    lock: threading.Lock

    def request(self, what: str, name: str, do: Callable[[], Any]) -> Any:
        """Count it, wait, and do it."""
        with self.lock:
            self.asked[what] += 1
        time.sleep(SECONDS)
        return do()


@contextmanager
def told(store: Slow, what: str) -> Iterator[None]:
    """Print what the block took, and what it asked for."""
    store.asked.clear()
    wall, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    yield
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime
    asked = ", ".join(f"{kind} {n:,}" for kind, n in sorted(store.asked.items()))
    print(f"  {what:<22} {time.perf_counter() - wall:8.2f} s  {spent:6.2f} s CPU  {asked}")


def documents(results: list[FetchResult]) -> Iterator[Document]:
    """Documents that show the images of the results, each once."""
    for start in range(0, len(results), SHOWN):
        found = [
            ImageNode(r.url, r.url, sha256=r.sha256, n_bytes=r.n_bytes, pack=r.pack, offset=r.offset)
            for r in results[start : start + SHOWN]
        ]
        yield Document(f"{start}", "http://a.example/", "w", 0, 0, list(found))


def read(folder: UPath, results: list[FetchResult]) -> None:
    """Read images as a tar does."""
    for document, image in RunImages(folder).along(documents(results)):
        for node in document.images():
            image(str(node.sha256))


def read_singly(folder: UPath, results: list[FetchResult]) -> None:
    """Read images one after another."""
    for result in results:
        RunImages(folder).read(result)


def measure(n: int) -> None:
    """Store and read so many images both ways."""
    dice = random.Random(n)
    contents = [dice.randbytes(dice.randint(*SIZES)) for _ in range(n)]
    store = Slow(Path())
    store.asked, store.lock = Counter(), threading.Lock()
    with behind_s3(store), tempfile.TemporaryDirectory() as scratch:
        folder = UPath("s3://bucket/images", use_listings_cache=False)
        print(f"{n:,} images, {sum(map(len, contents)) / 1e6:,.1f} MB")
        alone = ImageStore(folder / "alone")
        with told(store, "a file each: store"), ThreadPoolExecutor(THREADS) as threads:
            names = list(threads.map(alone.put, contents))
        results = [
            FetchResult(f"http://a.example/{i:08d}", "ok", sha256=name, n_bytes=len(content))
            for i, (name, content) in enumerate(zip(names, contents, strict=True))
        ]
        with told(store, "a file each: singly"):
            read_singly(folder / "alone", results)
        with told(store, "a file each: ahead"):
            read(folder / "alone", results)
        unit = UnitImages(folder / "packed", Path(scratch))
        with told(store, "packs: store"):
            for content in contents:
                unit.put(content)
            packed = unit.pack(results, "bucket-0001", {})
        with told(store, "packs: in order"):
            read(folder / "packed", packed)
        dice.shuffle(packed)
        with told(store, "packs: in any order"):
            read(folder / "packed", packed)
        for kind in ("alone", "packed"):
            files = files_below(folder / kind)
            print(f"  {kind}: {len(files):,} objects, {sum(files.values()):,} bytes")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, nargs="+", default=[250, 1000, 4000])
    for n in parser.parse_args().images:
        measure(n)


if __name__ == "__main__":
    main()
