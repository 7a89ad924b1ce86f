"""A whole run over many small WARC files, each a unit: what its driver and its workers spend on one, and their memory.

    python -m benchmarks.many_units [--units N …] [--engine local ray] [--workers N] [--folder DIR]

Each file has two pages, of sentences of the demo's site; three pages in ten are copies of another. Nothing is fetched.
Prints, for each engine and size: units of all steps, what the driver and all other processes spend on one, the largest
memory of the driver and of another process, seconds, and how many documents went for what. Exit code 1 where a run does
not end well.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.demo.pack import warc_of
from obelics_pipeline.demo.page import Page
from obelics_pipeline.demo.pages import written_pages

PAGES = 2  # of a file
COPIES_IN_TEN = 3
PARAGRAPHS, SENTENCES = 6, 4  # of a page, of a paragraph
FOLDER = 1_000  # files of a folder
LOOK_SECONDS = 0.5  # between two looks at the memory of processes
TICK = os.sysconf("SC_CLK_TCK")
SETTINGS = ["fetch.enabled=false", "reading.unit_bytes=1000000", "dedup.buckets=16"]


class Processes:
    """What the processes of a run have used so far: the driver, which leads their session, and all others."""

    def __init__(self, driver: int) -> None:
        self._driver = driver
        self._seconds: dict[int, float] = {}
        self._bytes: dict[int, int] = {}

    def look(self) -> None:
        """Once. What a process uses after the last look at it is missed."""
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:  # it ended
                continue
            if int(fields[3]) == self._driver:
                pid = int(stat.parent.name)
                self._seconds[pid] = (int(fields[11]) + int(fields[12])) / TICK
                self._bytes[pid] = max(self._bytes.get(pid, 0), int(fields[21]) * resource.getpagesize())

    def watch(self, over: threading.Event) -> None:
        """Until it is over."""
        while not over.wait(LOOK_SECONDS):
            self.look()

    def driver(self) -> tuple[float, int]:
        """CPU seconds, and the largest memory in bytes, of the driver."""
        return self._seconds[self._driver], self._bytes[self._driver]

    def others(self) -> tuple[float, int]:
        """CPU seconds of all others, and the largest memory of one of them."""
        seconds = sum(used for pid, used in self._seconds.items() if pid != self._driver)
        return seconds, max((size for pid, size in self._bytes.items() if pid != self._driver), default=0)


def sentences() -> list[str]:
    """Of the demo's pages."""
    from selectolax.lexbor import LexborHTMLParser

    found: dict[str, None] = {}
    for page in written_pages():
        for paragraph in LexborHTMLParser(page.body.decode("utf-8", "replace")).css("article p"):
            for sentence in " ".join(paragraph.text().split()).split(". "):
                if 8 <= len(sentence.split()) <= 40:
                    found[sentence.strip(" .") + "."] = None
    return list(found)


def pages(number: int, known: list[str]) -> Iterator[Page]:
    """As many pages as are asked for, of which three in ten say what another says."""
    for n in range(number):
        of = n - n % 10 if n % 10 in range(1, COPIES_IN_TEN + 1) else n
        chance = random.Random(of)
        host = f"site-{n % 997}.example"
        parts = []
        for paragraph in range(PARAGRAPHS):
            text = " ".join(f"{s[:-1]} {chance.randrange(10**4)}." for s in chance.sample(known, SENTENCES))
            parts.append(f"<p>{text}</p>")
            if paragraph % 3 == 1:
                parts.append(f'<p><img src="/p/{n}-{paragraph}.jpg" width="640" height="480" alt="A view {n}"></p>')
        html = (
            f"<!DOCTYPE html><html lang=en><head><title>Page {n}</title></head><body><article><h1>On the matter of {of}"
        )
        body = f"{html}</h1>{''.join(parts)}</article></body></html>"
        yield Page(f"http://{host}/{n}.html", body.encode())


def made(folder: Path, files: int) -> None:
    """Write so many WARC files, a thousand of them to a folder."""
    every = pages(files * PAGES, sentences())
    for n in range(files):
        place = folder / f"{n // FOLDER:04d}"
        place.mkdir(parents=True, exist_ok=True)
        name = f"small-{n:06d}.warc.gz"
        (place / name).write_bytes(warc_of(name, [next(every) for _ in range(PAGES)]))


def run(folder: Path, files: int, engine: str, workers: int) -> bool:
    """One run, printed as a line; whether all is as it should be."""
    source, output = folder / f"warcs-{files}", folder / f"{engine}-{files}"
    if not source.exists():
        made(source, files)
    shutil.rmtree(output, ignore_errors=True)
    given = [word for setting in SETTINGS for word in ("--set", setting)]
    command = [sys.executable, "-m", "obelics_pipeline", "run", "default", "--input", f"{source}/*/*.warc.gz",
               "--output", str(output), "--engine", engine, "--workers", str(workers), *given]  # fmt: skip
    log = folder / f"{engine}-{files}.log"
    began, over = time.perf_counter(), threading.Event()
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True)
        seen = Processes(process.pid)
        watcher = threading.Thread(target=seen.watch, args=(over,))
        watcher.start()
        code = process.wait()
        over.set()
        watcher.join()
    seconds = time.perf_counter() - began
    if code != 0:
        print(f"{engine} {files}: exit code {code}, see {log}")
        return False
    with (output / "events.jsonl").open() as lines:
        units = sum(json.loads(line)["event"] == "unit_done" for line in lines)
    (driver, driver_bytes), (others, bytes_of_one) = seen.driver(), seen.others()
    dropped = sorted(read_manifest(output).ledgers["documents"].dropped.items(), key=lambda reason: -reason[1])[:2]
    print(
        f"| {engine} | {files:,} | {units:,} | {1000 * driver / units:.2f} | {1000 * others / units:.1f} | "
        f"{driver_bytes / 1e6:,.0f} | {bytes_of_one / 1e6:,.0f} | {seconds:,.0f} | {dict(dropped)} |",
        flush=True,
    )
    return True


def main() -> int:
    """Run each size on each engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, nargs="+", default=[500, 2_000, 8_000])
    parser.add_argument("--engine", nargs="+", default=["local", "ray"], choices=["local", "ray"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="obelics-many-"))
    print("| engine | files | units | driver, ms a unit | others, ms a unit | driver, MB | other, MB | s | dropped |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|")
    return 0 if all(run(folder, n, e, options.workers) for n in options.units for e in options.engine) else 1


if __name__ == "__main__":
    sys.exit(main())
