"""WARC files for the tests, written record by record so that each can be damaged on its own."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Sequence
from pathlib import Path

import zstandard
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.ranges import ReadTask
from obelics_pipeline.stages.read.records import read_task

DATE = "2024-05-06T07:08:09Z"


def html(number: int, words: int = 120) -> bytes:
    """A page that tells its number and does not compress away."""
    rng = random.Random(number)
    text = " ".join(f"{rng.getrandbits(40):x}" for _ in range(words))
    return f"<!doctype html><html><body><h1>page {number}</h1><p>{text}</p></body></html>".encode()


def url(number: int) -> str:
    return f"http://site.example/{number}"


def record(
    body: bytes | None = None,
    target: str | None = url(0),
    kind: str = "response",
    status: str = "200 OK",
    headers: Sequence[tuple[str, str]] = (("Content-Type", "text/html; charset=utf-8"),),
    compressed: bool = False,
) -> bytes:
    """One WARC record as warcio writes it."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=compressed)
    http = StatusAndHeaders(status, list(headers), protocol="HTTP/1.1") if kind in ("response", "revisit") else None
    body = b"GET / HTTP/1.1\r\nHost: site.example\r\n\r\n" if kind == "request" else body
    made = writer.create_warc_record(
        target, kind, payload=io.BytesIO(body or b""), http_headers=http, warc_headers_dict={"WARC-Date": DATE}
    )
    if target is None:
        made.rec_headers.remove_header("WARC-Target-URI")
    writer.write_record(made)
    return out.getvalue()


def pages(count: int) -> list[bytes]:
    """Uncompressed response records, one per page."""
    return [record(html(number), url(number)) for number in range(count)]


def with_length(plain: bytes, length: int | str) -> bytes:
    """A record that declares another length than it has."""
    head, blank, block = plain.partition(b"\r\n\r\n")
    lines = [
        b"Content-Length: " + str(length).encode() if line.startswith(b"Content-Length:") else line
        for line in head.split(b"\r\n")
    ]
    return b"\r\n".join(lines) + blank + block


def declared(plain: bytes) -> int:
    """The length a record declares."""
    return int(plain.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])


def gz(records: Sequence[bytes]) -> list[bytes]:
    """One gzip member per record."""
    return [gzip.compress(plain, mtime=0) for plain in records]


def zst(records: Sequence[bytes], dictionary: zstandard.ZstdCompressionDict | None = None) -> list[bytes]:
    """One zstd frame per record, with a checksum."""
    options = {"dict_data": dictionary} if dictionary else {}
    return [zstandard.ZstdCompressor(write_checksum=True, **options).compress(plain) for plain in records]


def read(
    path: Path | str, start: int = 0, end: int | None = None, config: ReadingConfig | None = None, name: str = ""
) -> list[Page | Skipped]:
    """Everything in a byte range of a file."""
    size = Path(path).stat().st_size
    task = ReadTask("warc", str(path), name or Path(path).name, start, size if end is None else end, size, "", "label")
    return list(read_task(task, config or ReadingConfig()))


def write(folder: Path, name: str, members: Sequence[bytes]) -> Path:
    """A file of these members."""
    path = folder / name
    path.write_bytes(b"".join(members))
    return path


def numbers(items: Sequence[Page | Skipped]) -> list[int]:
    """The numbers of the pages, in order."""
    return [int(item.url.rsplit("/", 1)[1]) for item in items if isinstance(item, Page)]


def failures(items: Sequence[Page | Skipped]) -> list[str]:
    """The reasons of what could not be read."""
    return [item.reason for item in items if isinstance(item, Skipped) and item.failed]
