"""A number that was measured on a few units: its best value, and the spread over them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, log10


@dataclass(frozen=True)
class Interval:
    """`point` between `low` and `high`; all three equal where nothing is uncertain."""

    low: float
    point: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Interval:
        """A number without spread."""
        return cls(value, value, value)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.point + other.point, self.high + other.high)

    def __sub__(self, part: Interval) -> Interval:
        """Less a part of it, which is low where it is low."""
        return Interval(self.low - part.low, self.point - part.point, self.high - part.high)

    def __mul__(self, factor: float) -> Interval:
        """Times a number that is not negative."""
        return Interval(self.low * factor, self.point * factor, self.high * factor)

    def at_least(self, floor_: float) -> Interval:
        """No part of it below a number."""
        return Interval(max(self.low, floor_), max(self.point, floor_), max(self.high, floor_))

    def to_json(self) -> dict[str, float]:
        """Its three numbers."""
        return {"low": self.low, "point": self.point, "high": self.high}

    def __str__(self) -> str:
        """Two significant digits, since more would say what nobody knows; whole and exact where there is no spread."""
        if self.low == self.high:
            return f"{self.point:,.0f}" if float(self.point).is_integer() else rounded(self.point)
        low, point, high = rounded(self.low), rounded(self.point), rounded(self.high)
        return point if low == high else f"{point} ({low}–{high})"


def total(intervals: Iterable[Interval]) -> Interval:
    """The sum."""
    result = Interval.exactly(0.0)
    for interval in intervals:
        result = result + interval
    return result


def rounded(value: float) -> str:
    """A number with two significant digits, and a letter from ten thousand on."""
    if value <= 0:
        return "0"
    value = float(round(value, 1 - floor(log10(value))))
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size * (10 if letter == "k" else 1):
            return _plain(value / size) + letter
    return _plain(value)


def _plain(value: float) -> str:
    if value.is_integer():
        return f"{value:,.0f}"
    digits = floor(log10(value))
    return f"{value:,.{max(0, 1 - digits)}f}"
