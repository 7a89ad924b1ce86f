"""Rows of digits with what people write between them: where a number of any kind may be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

FEWEST = 4  # digits of the shortest value that is looked for, an IP address
LONGEST = 96  # characters of a row that is looked at as one; a table of figures is cut into such

_BETWEEN = b" \t().,/+:-"
_FORM = bytes(
    ord("0") if byte in b"0123456789" else ord(" ") if byte in _BETWEEN else ord("x") for byte in range(256)
)  # digits, what stands between them, and the rest
_RUN = re.compile(rb"0[0 ]{4,}0")


class Run(NamedTuple):
    """A row of digits: characters `begin` to `end` of a text, and how many digits are among them."""

    begin: int
    end: int
    digits: int


def form_of(flat: bytes) -> bytes:
    """A text as `plain.flat` gives it: 0 for digits, a space for what may stand between them, x for the rest."""
    return flat.translate(_FORM)


def find_runs(form: bytes) -> Iterator[Run]:
    """The rows that have enough digits of a text as `form_of` gives it, from left to right."""
    for match in _RUN.finditer(form):
        begin, end = match.span()
        while end - begin > LONGEST:
            cut = form.rfind(b" ", begin, begin + LONGEST)
            if cut > begin:
                yield from _run(form, begin, cut)
            else:  # no number has so many digits: they are skipped
                cut = form.find(b" ", begin, end)
                cut = end if cut < 0 else cut
            begin = cut + 1
        if begin < end:
            yield from _run(form, begin, end)


def _run(form: bytes, begin: int, end: int) -> Iterator[Run]:
    digits = form.count(b"0", begin, end)
    if digits >= FEWEST:
        yield Run(begin, end, digits)


def count_digits(text: str) -> int:
    """How many ASCII digits a plain text has."""
    data = text.encode("ascii", "replace")
    return len(data) - len(data.translate(None, b"0123456789"))
