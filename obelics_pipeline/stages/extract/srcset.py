"""The candidates of a srcset attribute (HTML standard, section 4.8.4.2.2)."""

from __future__ import annotations

import re
from typing import NamedTuple

from obelics_pipeline.stages.extract import addresses

MAX_SRCSET = 100_000  # characters that are looked at


class Candidate(NamedTuple):
    """A URL as written, and the width in pixels that its descriptor claims or, for a density, stands for."""

    url: str
    width: float


_DENSITY_WIDTH = 600.0  # pixels that 1x stands for, so that 2x is better; only its order matters
if addresses.COMPILED:
    addresses.compiled.set_candidate(Candidate, _DENSITY_WIDTH)
_URL = re.compile(r"[^, \t\n\r\f][^ \t\n\r\f]*")


def parse_srcset(value: str) -> list[Candidate]:
    """Candidates in the order written. URLs may hold commas; what cannot be understood is left out."""
    value = value[:MAX_SRCSET]
    found = addresses.compiled.parse_srcset(value) if addresses.COMPILED and value.isascii() else None
    return parse_in_python(value) if found is None else found


def parse_in_python(value: str) -> list[Candidate]:
    """What `parse_srcset` says of so many characters, in Python."""
    found: list[Candidate] = []
    position, end = 0, len(value)
    while (match := _URL.search(value, position)) is not None:
        url = match[0]
        position = match.end()
        descriptor = ""
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            comma = value.find(",", position)
            comma = end if comma < 0 else comma
            descriptor = value[position:comma].strip()
            position = comma
        width = _width(descriptor)
        if width is not None:
            found.append(Candidate(url, width))
    return found


def _width(descriptor: str) -> float | None:
    if not descriptor:
        return _DENSITY_WIDTH
    first = descriptor.split(None, 1)[0]
    try:
        number = float(first[:-1])
    except ValueError:
        return None
    if first[-1] == "w":
        return number
    return number * _DENSITY_WIDTH if first[-1] == "x" else None
