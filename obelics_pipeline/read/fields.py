"""Header lines, of WARC and of HTTP: `Name: value`, as lenient as the web is."""

from __future__ import annotations

import re
from operator import methodcaller

AT_COLON = methodcaller("partition", ":")
FOLD = re.compile(r"\r?\n[ \t]+(?=[^\s])")


def field_lines(head: str) -> list[tuple[str, str]]:
    """Lower-case names and values after the first line, in order; folded lines are joined, other lines passed over."""
    if "\n " in head or "\n\t" in head:
        head = FOLD.sub(" ", head)
    parts = map(AT_COLON, head.split("\n")[1:])
    return [(name.strip().lower(), value.strip()) for name, colon, value in parts if colon]


def parse_fields(head: str) -> dict[str, str]:
    """The lines after the first one by lower-case name; the first of equal names counts."""
    return dict(reversed(field_lines(head)))


def as_text(data: bytes) -> str:
    """Header bytes as text: UTF-8 where they are, else Latin-1, which never fails."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
