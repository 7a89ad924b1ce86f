"""Records in uncompressed WARC content, with resynchronisation after damage.

The content is a plain .warc file, or what a gzip member or a zstd frame inflates to. Where the declared lengths are
wrong, the next `WARC/1.0` line after a blank line tells where a record ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from obelics_pipeline.stages.read.fields import as_text, is_response, parse_fields
from obelics_pipeline.stages.read.http_head import split_head
from obelics_pipeline.stages.read.raw_record import TRUNCATED, Gap, RawRecord

VERSION_LINE = re.compile(rb"WARC/\d{1,2}\.\d{1,3}[ \t]*\r?\n")
RECORD_START = re.compile(rb"\n\r?\n(WARC/\d{1,2}\.\d{1,3}[ \t]*\r?\n[A-Za-z][A-Za-z0-9-]*:)")
BLANK_LINE = re.compile(rb"\n\r?\n")
MAX_HEADER = 64 * 1024  # bytes of a record's WARC header; real ones are under 2 KB
HEADER_GUESS = 2048  # bytes read at first, to spare most records a second read
SCAN_WINDOW = 1 << 20
SCAN_OVERLAP = 256


class Content(Protocol):
    """Random access to uncompressed content; at the end fewer bytes come than were asked for."""

    def at(self, position: int, count: int) -> bytes:
        """Up to `count` bytes from `position`."""


def plain_records(content: Content, start: int, cap: int, complete: bool) -> Iterator[RawRecord | Gap]:
    """Every record from `start`, a record's beginning, to the end of the content, and a gap for each piece lost.

    Of a response's block at most `cap` bytes are read, of other blocks none. `complete` says that the content is known
    to end where it should (its checksum was right), so a block that seems cut has merely a wrong length. The walk
    depends on nothing but the content, so walks that start at different records agree on all later ones.
    """
    position = _skip_newlines(content, start)
    while content.at(position, 1):
        head = _read_head(content, position)
        if head is None:
            after = _next_start(content, position)
            reason = TRUNCATED if after is None and _header_is_cut(content, position) else "damaged_record"
            end = _end(content, position) if after is None else after
            yield Gap(position, end - position, reason)
            position = end
            continue
        headers, block_start = head
        block_length, after, gap = _delimit(content, block_start, _declared_length(headers), complete)
        if gap == TRUNCATED:
            yield Gap(position, after - position, gap)
            return
        wanted = min(block_length, cap) if is_response(headers) else 0
        block = content.at(block_start, wanted) if wanted else b""
        record_end = block_start + block_length if gap else after
        yield RawRecord(position, record_end - position, 0, headers, *split_head(block), block_length)
        if gap:
            yield Gap(record_end, after - record_end, gap)
        position = after


def _delimit(content: Content, start: int, declared: int, complete: bool) -> tuple[int, int, str | None]:
    """Length of the block at `start`, where the next record begins, and the reason of a gap between the two."""
    end = start + declared
    after = _boundary(content, end) if declared == 0 or content.at(end - 1, 1) else None
    if after is not None:
        return declared, after, None
    found = _next_start(content, start)
    limit = _end(content, start) if found is None else found
    if limit < end:  # too large a length: it swallowed what follows, or the content ends early
        if found is None and not complete:
            return limit - start, limit, TRUNCATED
        return _without_newlines(content, start, limit) - start, limit, None
    if _skip_newlines(content, end) - end >= 2:  # the block ended well: what follows is damaged
        return declared, limit, "damaged_record"
    return _without_newlines(content, start, limit) - start, limit, None  # too small a length: the tail is the block's


def _boundary(content: Content, end: int) -> int | None:
    """Where the next record (or the end of content) is, if a block ending at `end` is followed by one."""
    after = content.at(end, 32)
    stripped = after.lstrip(b"\r\n")
    if stripped and b"WARC/".startswith(stripped[:5]):  # at the end of a cut file, the beginning of it will do
        return end + len(after) - len(stripped)
    if not stripped:
        position = _skip_newlines(content, end)
        if not content.at(position, 1) or content.at(position, 5) == b"WARC/":
            return position
    return None


def _read_head(content: Content, position: int) -> tuple[dict[str, str], int] | None:
    """The header of the record at `position` and where its block starts; None where there is no header."""
    data = content.at(position, HEADER_GUESS)
    version = VERSION_LINE.match(data)
    if version is None:
        return None
    blank = BLANK_LINE.search(data)
    if blank is None:
        data = content.at(position, MAX_HEADER)
        blank = BLANK_LINE.search(data)
        if blank is None:
            return None
    return parse_fields(as_text(data[: blank.start() + 1])), position + blank.end()


def _declared_length(headers: dict[str, str]) -> int:
    """Content-Length; 0 where it is missing or nonsense, so that the next record start decides."""
    text = headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _next_start(content: Content, position: int) -> int | None:
    """The first record start after `position`, or None."""
    position = max(position - 2, 0)  # the blank line before a record may be the end of the header before it
    while True:
        data = content.at(position, SCAN_WINDOW)
        found = RECORD_START.search(data)
        if found:
            return position + found.start(1)
        if len(data) < SCAN_WINDOW:
            return None
        position += SCAN_WINDOW - SCAN_OVERLAP


def _end(content: Content, position: int) -> int:
    """The length of the content, which is at least `position`."""
    while True:
        count = len(content.at(position, SCAN_WINDOW))
        position += count
        if count < SCAN_WINDOW:
            return position


def _header_is_cut(content: Content, position: int) -> bool:
    """Whether the content ends within a header that began well."""
    data = content.at(position, MAX_HEADER)
    return len(data) < MAX_HEADER and (b"WARC/".startswith(data[:5]) or VERSION_LINE.match(data) is not None)


def _skip_newlines(content: Content, position: int) -> int:
    while True:
        data = content.at(position, 64)
        rest = data.lstrip(b"\r\n")
        position += len(data) - len(rest)
        if rest or len(data) < 64:
            return position


def _without_newlines(content: Content, start: int, end: int) -> int:
    """`end`, less the CRLF CRLF that closes a record."""
    tail_start = max(start, end - 4)
    tail = content.at(tail_start, end - tail_start)
    for closing in (b"\r\n\r\n", b"\n\n", b"\r\n", b"\n"):
        if tail.endswith(closing):
            return end - len(closing)
    return end
