"""Packs the demo's pages into WARC files as Common Crawl does: a gzip member per record; dates and ids are fixed."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.demo.page import Page
from obelics_pipeline.demo.pages import hosts, pages, peculiarities

if TYPE_CHECKING:
    from warcio.warcwriter import WARCWriter

DATE = "2031-05-04T06:00:00Z"
CHUNK = 4096  # bytes of one chunk of a chunked body
DAMAGE = b"\x00damaged on purpose\x00"
NAMES = ("demo-00000.warc.gz", "demo-00001.warc.gz")

Headers = list[tuple[str, str]]


@dataclass(frozen=True)
class Exchange:
    """One HTTP answer as it goes into a WARC: status line and headers, and the body as it was sent."""

    url: str
    status: str
    headers: Headers
    body: bytes
    kind: str = "response"  # or "revisit"
    damaged: bool = False


def pack(folder: Path) -> list[Path]:
    """Write the site's WARC files into a folder and return their paths; the same site gives the same bytes.

    Hosts are dealt out in turn, so that copies of an article on two hosts lie in different files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    order = {host: n % len(NAMES) for n, host in enumerate(hosts())}
    exchanges = [_answer(page) for page in pages()]
    others = [_other(**values) for values in peculiarities()["records"].values()]
    paths = []
    for n, name in enumerate(NAMES):
        mine = [e for e in [*exchanges, *others] if order[e.url.split("/")[2]] == n]
        path = folder / name
        data = _warc(name, mine)
        if not path.is_file() or path.read_bytes() != data:  # a file left as it was is no new input to a second run
            write_bytes(path, data)
        paths.append(path)
    return paths


def _answer(page: Page) -> Exchange:
    """The answer that carries a page."""
    headers: Headers = [("Content-Type", page.content_type), *page.headers.items()]
    body = page.body
    if page.gzip:
        body = gzip.compress(body, mtime=0)
        headers.append(("Content-Encoding", "gzip"))
    if page.chunked:
        body = b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in _cut(body)) + b"0\r\n\r\n"
        headers.append(("Transfer-Encoding", "chunked"))
    else:
        headers.append(("Content-Length", str(len(body))))
    return Exchange(page.url, "200 OK", headers, body, damaged=page.damaged)


def _cut(body: bytes) -> Iterable[bytes]:
    return (body[i : i + CHUNK] for i in range(0, len(body), CHUNK))


def _other(url: str, status: str, headers: dict[str, str], body: str = "", kind: str = "response") -> Exchange:
    """A record that is no page: an error, a redirect, a revisit, another media type, an empty body."""
    return Exchange(url, status, list(headers.items()), body.encode(), kind)


def warc_of(name: str, pages: Iterable[Page]) -> bytes:
    """The bytes of a WARC file that holds these pages."""
    return _warc(name, [_answer(page) for page in pages])


def _warc(name: str, exchanges: list[Exchange]) -> bytes:
    """The bytes of one WARC file."""
    from warcio.warcwriter import WARCWriter

    out = BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version="1.0")
    info = {"software": "obelics-pipeline demo", "format": "WARC File Format 1.0", "robots": "classic"}
    record = writer.create_warcinfo_record(name, info)
    record.rec_headers.replace_header("WARC-Date", DATE)  # warcio put the clock there, and chance into the id
    record.rec_headers.replace_header("WARC-Record-ID", _record_id(name))
    writer.write_record(record)
    damaged = []
    for exchange in exchanges:
        span = _write(writer, out, exchange)
        if exchange.damaged:
            damaged.append(span)
    data = bytearray(out.getvalue())
    for start, end in damaged:
        middle = (start + end) // 2
        data[middle : middle + len(DAMAGE)] = DAMAGE
    return bytes(data)


def _write(writer: WARCWriter, out: BytesIO, exchange: Exchange) -> tuple[int, int]:
    """Write request, response and metadata of one exchange; the byte span of the response's member."""
    from warcio.statusandheaders import StatusAndHeaders

    host, _, path = exchange.url.removeprefix("http://").partition("/")
    asked = StatusAndHeaders(
        f"GET /{path} HTTP/1.1", [("Host", host), ("User-Agent", "demo-crawler/1.0")], is_http_request=True
    )
    _record(writer, exchange, "request", b"", asked)
    start = out.tell()
    answered = StatusAndHeaders(exchange.status, exchange.headers, protocol="HTTP/1.1")
    _record(writer, exchange, exchange.kind, exchange.body, answered)
    end = out.tell()
    _record(writer, exchange, "metadata", b"fetchTimeMs: 40\r\n", None)
    return start, end


def _record(writer: WARCWriter, exchange: Exchange, kind: str, body: bytes, http: Any) -> None:
    headers = {"WARC-Date": DATE, "WARC-Record-ID": _record_id(exchange.url, exchange.kind, kind)}
    if kind == "revisit":
        headers["WARC-Profile"] = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
    media = "application/warc-fields" if kind == "metadata" else ""
    writer.write_record(
        writer.create_warc_record(
            exchange.url, kind, payload=BytesIO(body), length=len(body), http_headers=http, warc_headers_dict=headers,
            warc_content_type=media,
        )
    )  # fmt: skip


def _record_id(*what: str) -> str:
    """A record id that follows from what the record is."""
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(what))}>"
