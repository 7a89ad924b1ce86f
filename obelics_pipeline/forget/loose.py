"""Text files of a run's folder (logs, marks, notes, journals): what names something forgotten is struck out."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import PurePosixPath

from obelics_pipeline.core.storage import Location, read_bytes, write_bytes

ENDINGS = (".json", ".jsonl", ".yaml", ".txt", ".html", ".csv", ".log", ".md")
STRUCK = "forgotten"  # stands for an address
_TOKEN = re.compile(
    r"https?:(?:/|\\/){2}[^\s\"'<>|]+|\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b|[\w-]+(?:\.[\w-]+)+", re.IGNORECASE
)

Strike = Callable[[str], str | None]  # a URL, a hash or a host -> what stands for it; None where it is not forgotten


def struck(text: str, strike: Strike) -> str:
    """A text with every address and hash that is forgotten struck out."""

    def replaced(found: re.Match[str]) -> str:
        token = found[0]
        for spelling in dict.fromkeys((token, html.unescape(token), _from_json(token), token.rstrip(".,;:)]}"))):
            other = strike(spelling)
            if other is not None:
                return other
        return token

    return _TOKEN.sub(replaced, text)


def _from_json(token: str) -> str:
    try:
        return str(json.loads(f'"{token}"'))
    except ValueError:
        return token


def strike_file(place: Location, strike: Strike, lines_go: bool = False) -> int:
    """Blank what is forgotten in a file; returns the bytes that it lost. `lines_go`: whole lines are removed."""
    data = read_bytes(place)
    text = data.decode("utf-8", "surrogateescape")
    lines = text.splitlines(keepends=True)
    now = [struck(line, strike) for line in lines]
    if now == lines:
        return 0
    if lines_go:
        now = [line for line, other in zip(lines, now, strict=True) if line == other]
    new = "".join(now).encode("utf-8", "surrogateescape")
    write_bytes(place, new)
    return max(len(data) - len(new), 0)


def names_something(place: Location, strike: Strike) -> bool:
    """Whether a file has something that is forgotten."""
    text = read_bytes(place).decode("utf-8", "surrogateescape")
    return struck(text, strike) != text


def is_text(name: str) -> bool:
    """Whether a file is one of text, by its name."""
    return PurePosixPath(name).suffix in ENDINGS
