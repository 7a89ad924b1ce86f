"""Text files of a run's folder (logs, marks, notes, journals): what names something forgotten is struck out."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from obelics_pipeline.core.storage import Location, draft, local_copy, read_bytes

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
    """Blank what is forgotten in a file; returns the bytes that it lost. `lines_go`: whole lines are removed.

    A line is in memory at a time: a log grows with the run.
    """
    with local_copy(place) as source:
        if all(line == _struck_line(line, strike) for line in _lines(source)):
            return 0
        with draft(place) as path, path.open("wb") as new:
            for line in _lines(source):
                now = _struck_line(line, strike)
                if now == line or not lines_go:
                    new.write(now)
            new.flush()
            lost = source.stat().st_size - new.tell()
    return max(lost, 0)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        yield from source


def _struck_line(line: bytes, strike: Strike) -> bytes:
    return struck(line.decode("utf-8", "surrogateescape"), strike).encode("utf-8", "surrogateescape")


def names_something(place: Location, strike: Strike) -> bool:
    """Whether a file has something that is forgotten."""
    text = read_bytes(place).decode("utf-8", "surrogateescape")
    return struck(text, strike) != text


def is_text(name: str) -> bool:
    """Whether a file is one of text, by its name."""
    return PurePosixPath(name).suffix in ENDINGS
