"""The characters that the reference treats apart: "special" ones, and the spaces it makes uniform."""

from __future__ import annotations

import re
from importlib.resources import files

_WHITESPACE = re.compile("[\u2009\u200a\u202f\u2005\u3000\u2002\u2008\u2003\ufffc\u0084\u00a0]")


def standardize_whitespace(text: str) -> str:
    """Replace the reference's eleven odd spaces, U+FFFC and U+0084 among them, by a plain space, one for one."""
    return _WHITESPACE.sub(" ", text)


def _read_special() -> frozenset[str]:
    """The 1,598 single code points of the reference's list; see words/README.md."""
    lines = files("filters").joinpath("words/special_characters.txt").read_text("ascii").split()
    ranges = [(line.partition("-")[0], line.rpartition("-")[2]) for line in lines]
    return frozenset(chr(c) for first, last in ranges for c in range(int(first, 16), int(last, 16) + 1))


def _bitmap(characters: frozenset[str]) -> bytes:
    """One bit per code point, lowest bit first, up to the highest one of the set."""
    bits = bytearray(max(map(ord, characters)) // 8 + 1)
    for character in characters:
        bits[ord(character) >> 3] |= 1 << (ord(character) & 7)
    return bytes(bits)


SPECIAL = _read_special()
SPECIAL_STRING = "".join(sorted(SPECIAL))
SPECIAL_BITMAP = _bitmap(SPECIAL)
