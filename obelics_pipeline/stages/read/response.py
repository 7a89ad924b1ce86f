"""A raw record as a page to read, or the reason why it is not a page."""

from __future__ import annotations

import re

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.policy.opt_outs.robots_header import directives_for
from obelics_pipeline.stages.read.charset import decode_html
from obelics_pipeline.stages.read.file_kind import DATA, file_kind
from obelics_pipeline.stages.read.http_head import HttpHead, parse_http_head
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.payload import BadEncodingError, PayloadTooLargeError, decode_payload
from obelics_pipeline.stages.read.raw_record import RawRecord

NOT_HTML = "not_html"  # by its declared type; what the bytes say follows it: not_html_pdf
HEAD_ALLOWANCE = 1 << 20  # bytes of a block beyond the page: HTTP header, chunk sizes
COUNTED_ONLY = ("warcinfo", "request", "metadata")
OTHER_TYPES = ("revisit", "resource", "conversion", "continuation")
HTML_START = re.compile(  # atomic throughout: nothing to backtrack into
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--(?>.*?-->)\s*+)*+"
    rb"<(?:!doctype\s+html|html|head|title|body|meta|link|script|style|div|p|table|h1|a|br|font|iframe)\b",
    re.IGNORECASE | re.DOTALL,
)
SNIFFED = 4096  # bytes of a body without a content type that are looked at
TDM_HEADERS = ("tdm-reservation", "tdm-policy")  # https://www.w3.org/community/reports/tdmrep/
CONTROL = re.compile("[\x00-\x20\x7f\ud800-\udfff]+")


def block_cap(config: ReadingConfig) -> int:
    """Bytes of a record's block that are ever held in memory."""
    return config.max_page_bytes + HEAD_ALLOWANCE


def judge(record: RawRecord, warc_filename: str, config: ReadingConfig) -> Page | Skipped:
    """The page of a record, or the reason why it has none."""
    kind = record.headers.get("warc-type", "").lower()
    if kind in COUNTED_ONLY:  # without a URL: the fast way does not read the headers of these
        return Skipped(kind, offset=record.offset, length=record.length, counted_only=True)
    if kind != "response":
        return _skip(record, kind if kind in OTHER_TYPES else "unknown_type")
    head = parse_http_head(record.head)
    if head is None:
        is_http = record.headers.get("content-type", "application/http").lower().startswith("application/http")
        return _skip(record, "bad_http_header" if is_http else "not_http", failed=is_http)
    refusal = _refused(record, head, config)
    if refusal:
        return _skip(record, refusal)
    try:
        body = decode_payload(
            record.body,
            head.joined("transfer-encoding"),
            head.joined("content-encoding"),
            config.max_page_bytes,
        )
    except PayloadTooLargeError:
        return _skip(record, "page_too_large")
    except BadEncodingError:
        return _skip(record, "bad_content_encoding", failed=True)
    return _page(record, head, body, warc_filename, config)


def target_uri(record: RawRecord) -> str | None:
    """The record's URL without the angle brackets of some writers, and without bytes no URL has; None without one."""
    uri = record.headers.get("warc-target-uri", "").removeprefix("<").removesuffix(">")
    return CONTROL.sub("", uri) or None


def _refused(record: RawRecord, head: HttpHead, config: ReadingConfig) -> str | None:
    """The reason to drop a response by what its headers say, or None."""
    url = target_uri(record)
    if url is None:
        return "no_target_uri"
    if not url.lower().startswith(("http://", "https://")):
        return "not_http"
    if head.status != 200:
        return f"http_{head.status}"
    mime = _mime(head)
    if mime and mime not in config.mime_types:
        return NOT_HTML
    robots = [value for name, value in head.lines if name == "x-robots-tag"]
    if config.honour_noai and robots and "noai" in directives_for(robots, config.robots_token):
        return "noai_header"
    if record.block_length > block_cap(config):
        return "page_too_large"
    return None


def _page(record: RawRecord, head: HttpHead, body: bytes, name: str, config: ReadingConfig) -> Page | Skipped:
    if not body.strip(b"\0\t\n\r\f "):
        return _skip(record, "empty_body")
    content_type = head.first("content-type")
    decoded = decode_html(body, content_type)
    kind = file_kind(body, decoded.text)
    if kind is not None and (_mime(head) or kind not in DATA):
        return _skip(record, f"{NOT_HTML}_{kind}")
    if not _mime(head) and not HTML_START.match(body[:SNIFFED]):
        return _skip(record, NOT_HTML)
    return Page(
        url=target_uri(record) or "",
        warc_filename=name,
        offset=record.offset,
        length=record.length,
        ordinal=record.ordinal,
        warc_date=record.headers.get("warc-date"),
        html=decoded.text,
        charset=decoded.charset,
        charset_source=decoded.source,
        content_type=content_type,
        x_robots_tag=head.joined("x-robots-tag"),
        tdm=tuple((name, value) for name, value in head.lines if name in TDM_HEADERS),
    )


def _mime(head: HttpHead) -> str:
    return (head.first("content-type") or "").split(";")[0].split(",")[0].strip().lower()


def _skip(record: RawRecord, reason: str, failed: bool = False) -> Skipped:
    date = record.headers.get("warc-date")
    return Skipped(reason, failed, target_uri(record), record.offset, record.length, warc_date=date)
