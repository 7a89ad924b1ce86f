"""Header lines, of WARC and of HTTP: `Name: value`, as lenient as the web is."""

from __future__ import annotations

import re
from collections.abc import Mapping

FOLD = re.compile(r"\r?\n[ \t]+(?=[^\s])")
LOOKED_AT = (  # every header that anything here asks for: skipping the others in one go is most of the speed
    "warc-type",
    "warc-target-uri",
    "warc-date",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "x-robots-tag",
    "tdm-reservation",
    "tdm-policy",
)
LINE = re.compile(rf"\n({'|'.join(LOOKED_AT)})[ \t]*:([^\n]*)", re.IGNORECASE)


def field_lines(head: str) -> list[tuple[str, str]]:
    """Lower-case names and values of the headers in LOOKED_AT after the first line, in order; folded lines joined."""
    if "\n " in head or "\n\t" in head:
        head = FOLD.sub(" ", head)
    return [(name.lower(), value.strip()) for name, value in LINE.findall(head)]


def parse_fields(head: str) -> dict[str, str]:
    """The same by name; the first of equal names counts."""
    return dict(reversed(field_lines(head)))


def is_response(headers: Mapping[str, str]) -> bool:
    """Whether the WARC headers, as `parse_fields` gives them, are those of a response."""
    return headers.get("warc-type", "").lower() == "response"


def as_text(data: bytes) -> str:
    """Header bytes as text: UTF-8 where they are, else Latin-1, which never fails."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
