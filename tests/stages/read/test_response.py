"""Records: which are pages, and the reason of each that is none."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.policy.opt_outs.robots_header import directives_for
from obelics_pipeline.stages.read.http_head import split_head
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.raw_record import RawRecord
from obelics_pipeline.stages.read.response import judge
from tests.stages.read.warcs import DATE, gz, html, read, record, url, write

TYPE = ("Content-Type", "text/html; charset=utf-8")


def one(plain: bytes, folder: Path, **config: Any) -> Page | Skipped:
    items = read(write(folder, "x.warc.gz", gz([plain])), config=ReadingConfig(**config))
    assert len(items) == 1
    return items[0]


def test_a_page_has_all_that_its_record_tells(tmp_path: Path) -> None:
    plain = record(html(3), url(3), headers=[TYPE, ("X-Robots-Tag", "noindex"), ("X-Robots-Tag", "nofollow")])
    length = len(gz([plain])[0])
    assert one(plain, tmp_path) == Page(
        url=url(3),
        warc_filename="x.warc.gz",
        offset=0,
        length=length,
        ordinal=0,
        warc_date=DATE,
        html=html(3).decode(),
        charset="utf-8",
        charset_source="header",
        content_type="text/html; charset=utf-8",
        x_robots_tag="noindex, nofollow",
    )


DROPPED = {
    "http_404": {"status": "404 Not Found"},
    "http_301": {"status": "301 Moved"},
    "http_206": {"status": "206 Partial Content"},
    "not_html": {"headers": [("Content-Type", "application/json")]},
    "empty_body": {"body": b" \r\n\0"},
    "no_target_uri": {"target": None},
    "not_http": {"target": "ftp://site.example/x"},
    "noai_header": {"headers": [TYPE, ("X-Robots-Tag", "noindex, NoAI")]},
    "page_too_large": {"body": b"<p>" + b"a" * (6 * 2**20)},
    "revisit": {"kind": "revisit", "body": b""},
    "resource": {"kind": "resource"},
    "conversion": {"kind": "conversion"},
    "unknown_type": {"kind": "novelty"},
}


@pytest.mark.parametrize("reason", DROPPED)
def test_each_record_that_is_no_page_is_dropped_with_its_reason(tmp_path: Path, reason: str) -> None:
    item = one(record(**({"body": html(1)} | DROPPED[reason])), tmp_path)
    assert isinstance(item, Skipped)
    assert (item.reason, item.failed, item.counted_only) == (reason, False, False)
    assert item.offset == 0


@pytest.mark.parametrize("kind", ["warcinfo", "request", "metadata"])
def test_records_that_never_are_pages_are_only_counted(tmp_path: Path, kind: str) -> None:
    item = one(record(b"x", url(1), kind), tmp_path)
    assert isinstance(item, Skipped)
    assert (item.reason, item.failed, item.counted_only) == (kind, False, True)


def raw(block: bytes, **headers: str) -> RawRecord:
    fields = {"warc-type": "response", "warc-target-uri": url(1)} | {k.replace("_", "-"): v for k, v in headers.items()}
    return RawRecord(0, len(block), 0, fields, *split_head(block), len(block))


def verdict(block: bytes, **headers: str) -> str:
    item = judge(raw(block, **headers), "x", ReadingConfig())
    return item.reason if isinstance(item, Skipped) else "page"


def test_a_broken_http_header_is_a_failure_and_another_protocol_is_not() -> None:
    assert verdict(b"garbage") == "bad_http_header"
    assert verdict(b"HTTP/1.1 OK\r\n\r\n<html>") == "bad_http_header"
    assert verdict(b"example. IN A 127.0.0.1", content_type="text/dns") == "not_http"
    assert verdict(b"HTTP/1.1 200\n\n<html>x") == "page"
    assert verdict(b"HTTP/2 200 \r\ncontent-type:text/html\r\n\r\nx") == "page"
    assert verdict(b"HTTP/1.0 200 OK\nContent-Type:\n text/html\n\nx") == "page"


def test_a_missing_content_type_is_sniffed() -> None:
    assert verdict(b"HTTP/1.1 200 OK\r\n\r\n \n<!-- c --><!DOCTYPE html><p>x") == "page"
    assert verdict(b"HTTP/1.1 200 OK\r\n\r\n{}") == "not_html"
    assert verdict(b"HTTP/1.1 200 OK\r\nContent-Type: \r\n\r\n<html>") == "page"
    assert verdict(b"HTTP/1.1 200 OK\r\n\r\n" + b"<!---->" * 500 + b"x") == "not_html"  # and in no time


@pytest.mark.parametrize("header", [b"", b"Content-Type: text/html\r\n", b"Content-Type: application/xhtml+xml\r\n"])
def test_a_file_that_is_called_html_is_refused_by_what_it_is(header: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + header + b"\r\n"
    assert verdict(head + b"%PDF-1.4\n1 0 obj") == "not_html_pdf"
    assert verdict(head + b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256)) * 9) == "not_html_image"
    assert verdict(head + bytes(range(256)) * 9) == "not_html_binary"


def test_codings_are_undone_or_are_a_failure() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
    assert verdict(head + gzip.compress(html(1))) == "page"
    assert verdict(head + html(1)) == "page"
    assert verdict(head + b"\x1f\x8b\x08" + bytes(99)) == "bad_content_encoding"
    assert verdict(head + gzip.compress(b"<p>" + bytes(6 * 2**20), 1)) == "page_too_large"


def test_the_url_is_cleaned_of_what_no_url_has() -> None:
    record = raw(b"HTTP/1.1 200 OK\r\n\r\n<html>x", warc_target_uri="<http://a.example/\0 b\n>")
    item = judge(record, "x", ReadingConfig())
    assert item.url == "http://a.example/b"


def test_noai_speaks_to_all_or_to_us(tmp_path: Path) -> None:
    def reason(value: str, **config: Any) -> str:
        item = one(record(html(1), headers=[TYPE, ("X-Robots-Tag", value)]), tmp_path, **config)
        return item.reason if isinstance(item, Skipped) else "page"

    assert reason("noai") == "noai_header"
    assert reason("noai", honour_noai=False) == "page"
    assert reason("noimageai") == "page"
    assert reason("otherbot: noai") == "page"
    assert reason("obelics-pipeline: noai") == "noai_header"


@pytest.mark.parametrize(
    ("values", "directives"),
    [
        (["noai, NOINDEX"], {"noai", "noindex"}),
        (["otherbot: noai, nofollow, us: noindex"], {"noindex"}),
        (["otherbot: noai", "nofollow"], {"nofollow"}),
        (["unavailable_after: 25 Jun 2030, noai"], {"unavailable_after", "noai"}),
        (["max-snippet: 5, Us : noai"], {"max-snippet", "noai"}),
        (["*: noai"], {"noai"}),
        ([""], set()),
    ],
)
def test_directives_are_scoped_as_written(values: list[str], directives: set[str]) -> None:
    assert directives_for(values, "us") == directives


@given(block=st.binary(max_size=200), start=st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\n\n"]))
def test_any_block_gets_a_verdict(block: bytes, start: bytes) -> None:
    item = judge(raw(start + block), "x", ReadingConfig())
    assert isinstance(item, Page | Skipped)
