"""WARC reading beside warcio: CPU seconds of the same work on the same files, taken in turn in one run.

    python benchmarks/warc_reading.py [--repeat N] [FILE.warc.gz …]

Both readers tell each record's compressed offset and length, parse each response's WARC and HTTP header, and hand over
its payload with transfer and content codings undone (warcio's content_stream()). Ours confirms each record by its gzip
trailer as well. Without files, a WARC of made-up pages is written by warcio to a temporary folder.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from obelics_pipeline.config.reading import ReadingConfig
from obelics_pipeline.read.http_head import parse_http_head
from obelics_pipeline.read.inputs import resolve_inputs
from obelics_pipeline.read.payload import decode_payload
from obelics_pipeline.read.ranges import ReadTask, plan_ranges
from obelics_pipeline.read.raw_record import RawRecord
from obelics_pipeline.read.records import raw_records, read_task
from obelics_pipeline.read.source import LocalSource

PAGES, PHRASES = 400, 800  # a page of about 100 KB, the median of real pages
BLOCK_CAP = 64 * 2**20


def write_sample(path: Path) -> None:
    """Write request, response and metadata per page, one gzip member per record, as Common Crawl does."""
    rng = random.Random(7)
    syllables = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 11))) for _ in range(3000)]
    phrases = [" ".join(rng.choices(syllables, k=12)) for _ in range(400)]  # pages repeat themselves, as real ones do
    with path.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for number in range(PAGES):
            url = f"http://site-{number % 50}.example/{number}"
            chosen = rng.choices(phrases, k=rng.randint(PHRASES // 2, PHRASES * 2))
            words = "</p></div>\n<div class='text'><p>".join(chosen)
            html = f"<html><body><div class='text'><p>{words}</p></div></body></html>".encode()
            lines = [("Content-Type", "text/html; charset=utf-8"), ("Server", "example"), ("X-Cache", "HIT")]
            for kind, first, body in (("request", "GET / HTTP/1.1", b""), ("response", "HTTP/1.1 200 OK", html)):
                status, protocol = first.split(" ", 1)[::-1]
                head = StatusAndHeaders(status, lines if body else [("Host", "x")], protocol=protocol)
                writer.write_record(writer.create_warc_record(url, kind, payload=BytesIO(body), http_headers=head))
            writer.write_record(writer.create_warc_record(url, "metadata", payload=BytesIO(b"fetchTimeMs: 12\r\n")))


def with_warcio(tasks: list[ReadTask]) -> int:
    """Bytes of all payloads, by warcio."""
    total = 0
    for path in dict.fromkeys(task.path for task in tasks):
        with open(path, "rb") as file:
            records, pointers = ArchiveIterator(file), []
            for record in records:
                if record.rec_type == "response":
                    total += len(record.content_stream().read())
                records.read_to_end(record)
                pointers.append((records.get_record_offset(), records.get_record_length()))
    return total


def with_ours(tasks: list[ReadTask]) -> int:
    """Bytes of all payloads, by this package."""
    total = 0
    for task in tasks:
        source = LocalSource(task.path)
        for item in raw_records(source, task.path, task.start, task.end, BLOCK_CAP):
            head = parse_http_head(item.head) if isinstance(item, RawRecord) and item.head else None
            if head is not None and isinstance(item, RawRecord):
                codings = head.joined("transfer-encoding"), head.joined("content-encoding")
                total += len(decode_payload(item.body, *codings, BLOCK_CAP))
        source.close()
    return total


def pages_with_ours(tasks: list[ReadTask]) -> int:
    """Decoded pages: HTTP parsing, content decoding and charset included."""
    config = ReadingConfig()
    return sum(hasattr(item, "html") for task in tasks for item in read_task(task, config))


def cpu_seconds(action: Callable[[list[ReadTask]], int], tasks: list[ReadTask]) -> float:
    """CPU time of one run of `action` in this process, without the garbage of the one before."""
    gc.collect()
    start = time.process_time()
    action(tasks)
    return time.process_time() - start


def main() -> None:
    """Print CPU time and ratio of each reader."""
    parser = argparse.ArgumentParser(description="CPU time of WARC reading, beside warcio.")
    parser.add_argument("files", nargs="*", help="WARC files warcio can read (.warc, .warc.gz)")
    parser.add_argument("--repeat", type=int, default=7, help="rounds; the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.files:
            write_sample(Path(folder, "sample.warc.gz"))
        config = ReadingConfig()
        tasks = plan_ranges(resolve_inputs(options.files or [f"{folder}/sample.warc.gz"], config), config)
        if with_warcio(tasks) != with_ours(tasks):
            raise SystemExit("the readers disagree on the bytes of the payloads")
        actions = {"warcio": with_warcio, "ours": with_ours, "ours, decoded pages": pages_with_ours}
        times: dict[str, list[float]] = {name: [] for name in actions}
        for _ in range(options.repeat):
            for name, action in actions.items():
                times[name].append(cpu_seconds(action, tasks))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in medians.items():
        print(f"{name:22s} {seconds:8.3f} s CPU   {medians['warcio'] / seconds:5.2f} x warcio")


if __name__ == "__main__":
    main()
