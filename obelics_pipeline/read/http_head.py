"""The head of an HTTP response as crawlers kept it: often not by the book, never trusted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from obelics_pipeline.read.fields import as_text, field_lines

MAX_HEAD = 256 * 1024  # bytes; browsers give up at about as much
STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)")
END_OF_HEAD = re.compile(rb"\n\r?\n")


@dataclass(slots=True)
class HttpHead:
    """Status, header lines in order with lower-case names, and where the body starts in the block."""

    status: int
    lines: list[tuple[str, str]]
    body_start: int

    def first(self, name: str) -> str | None:
        """The first non-empty value of a header."""
        return next((value for key, value in self.lines if key == name and value), None)

    def joined(self, name: str) -> str | None:
        """All values of a header, comma-separated."""
        values = [value for key, value in self.lines if key == name and value]
        return ", ".join(values) if values else None


def parse_http_head(block: bytes) -> HttpHead | None:
    """The head of a response, with CRLF or bare LF line ends; None where there is none."""
    status = STATUS_LINE.match(block)
    if status is None:
        return None
    end = END_OF_HEAD.search(block, status.end(), MAX_HEAD)
    if end is None:
        if len(block) > MAX_HEAD:
            return None
        head, body_start = block, len(block)
    else:
        head, body_start = block[: end.start()], end.end()
    return HttpHead(int(status[1]), field_lines(as_text(head)), body_start)
