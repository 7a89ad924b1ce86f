"""Sets of characters as the statistics take them, and the "special" characters that the reference treats apart."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files


def _read_special() -> frozenset[str]:
    """The 1,598 single code points of the reference's list; see words/README.md."""
    lines = files("obelics_pipeline.filters").joinpath("words/special_characters.txt").read_text("ascii").split()
    ranges = [(line.partition("-")[0], line.rpartition("-")[2]) for line in lines]
    return frozenset(chr(c) for first, last in ranges for c in range(int(first, 16), int(last, 16) + 1))


def bitmap(points: Iterable[int]) -> bytes:
    """A set of code points: one bit for each, lowest bit first, up to the highest one of the set."""
    found = set(points)
    bits = bytearray(max(found) // 8 + 1)
    for point in found:
        bits[point >> 3] |= 1 << (point & 7)
    return bytes(bits)


SPECIAL = _read_special()
SPECIAL_STRING = "".join(sorted(SPECIAL))
SPECIAL_BITMAP = bitmap(map(ord, SPECIAL))
