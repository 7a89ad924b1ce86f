"""The head of an HTTP response as crawlers kept it: often not by the book, never trusted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from obelics_pipeline.stages.read.fields import as_text, field_lines

MAX_HEAD = 256 * 1024  # bytes; browsers give up at about as much
STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)")
END_OF_HEAD = re.compile(rb"(?:\A|\n)\r?\n")


@dataclass(slots=True)
class HttpHead:
    """Status, and header lines in order with lower-case names."""

    status: int
    lines: list[tuple[str, str]]

    def first(self, name: str) -> str | None:
        """The first non-empty value of a header."""
        return next((value for key, value in self.lines if key == name and value), None)

    def joined(self, name: str) -> str | None:
        """All values of a header, comma-separated."""
        values = [value for key, value in self.lines if key == name and value]
        return ", ".join(values) if values else None


def split_head(block: bytes) -> tuple[bytes, bytes]:
    """The HTTP header of a block, through its blank line, and the body; without a blank line all is header."""
    end = END_OF_HEAD.search(block)
    place = end.end() if end else len(block)
    return block[:place], block[place:]


def parse_http_head(head: bytes) -> HttpHead | None:
    """The header of a response, with CRLF or bare LF line ends; None if it is no such header, or too long to be one."""
    status = STATUS_LINE.match(head)
    if status is None or len(head) > MAX_HEAD:
        return None
    return HttpHead(int(status[1]), field_lines(as_text(head)))
