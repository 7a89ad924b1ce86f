"""Rows of digits with what people write between them: where a number of any kind may be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

FEWEST = 4  # digits of the shortest value that is looked for, an IP address
LONGEST = 96  # characters of a row that is looked at as one; a table of figures is cut into such

_RUN = re.compile(r"[0-9][0-9 \t().,/+:·-]{4,}[0-9]")


class Run(NamedTuple):
    """A row of digits: characters `begin` to `end` of a text, and how many digits are among them."""

    begin: int
    end: int
    digits: int


def find_runs(text: str) -> Iterator[Run]:
    """The rows of a plain text that have enough digits, from left to right."""
    for match in _RUN.finditer(text):
        begin, end = match.span()
        while end - begin > LONGEST:
            cut = max(text.rfind(" ", begin, begin + LONGEST), text.rfind("\t", begin, begin + LONGEST))
            if cut <= begin:  # no number has so many digits: it is skipped whole
                cut = _after_word(text, begin, end)
            else:
                yield from _run(text, begin, cut)
            begin = cut + 1
        if begin < end:
            yield from _run(text, begin, end)


def _run(text: str, begin: int, end: int) -> Iterator[Run]:
    digits = count_digits(text[begin:end])
    if digits >= FEWEST:
        yield Run(begin, end, digits)


def _after_word(text: str, begin: int, end: int) -> int:
    gaps = [place for place in (text.find(" ", begin, end), text.find("\t", begin, end)) if place >= 0]
    return min(gaps, default=end)


def count_digits(text: str) -> int:
    """How many ASCII digits a plain text has."""
    data = text.encode("ascii", "replace")
    return len(data) - len(data.translate(None, b"0123456789"))
