"""One value that was found in a text, and what of a text is taken by such values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Characters `begin` to `end` of a text are a value of a kind. `value` is its one spelling: what is hashed."""

    begin: int
    end: int
    kind: str
    value: str


class Taken:
    """Ranges of a text that are spoken for; no two overlap."""

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        ranges = sorted(spans)
        self._begins, self._ends = [begin for begin, _ in ranges], [end for _, end in ranges]

    def take(self, begin: int, end: int) -> bool:
        """Add a range; False, and nothing is done, where it overlaps one that was there before."""
        place = bisect_right(self._ends, begin)
        if place < len(self._begins) and self._begins[place] < end:
            return False
        self._begins.insert(place, begin)
        self._ends.insert(place, end)
        return True

    def free(self, begin: int, end: int) -> bool:
        """Whether nothing of a range is taken."""
        place = bisect_right(self._ends, begin)
        return place == len(self._begins) or self._begins[place] >= end

    def end_before(self, place: int) -> int:
        """The end of the last range before a position, or 0 without one. Words before it are about another value."""
        before = bisect_right(self._ends, place)
        return self._ends[before - 1] if before else 0
