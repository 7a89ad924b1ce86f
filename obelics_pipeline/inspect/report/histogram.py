"""Bars of a tally, with thresholds as lines: everything that the drawing needs, in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from obelics_pipeline.inspect.report.human import count, figure
from obelics_pipeline.inspect.report.tally import OUTCOMES, Floats, Ints, ReasonTally

BINS = 48
WIDTH, HEIGHT, TOP, BOTTOM = 480, 110, 16, 18  # of the bars; above them for marks, below for the axis
LOG_SPREAD = 10.0  # the axis is logarithmic where the 99th percentile is so many times the median, and above 1
APART = 44.0  # pixels between the names of two marks, at least; one that is nearer has none
LEAST = 1e-100  # length of an axis, at least
TALL = 50.0  # heights are logarithmic where the tallest bar is so many times the median one
SAID = {"kept": "kept", "dropped": "dropped by this score", "elsewhere": "dropped by something else"}
RULE = (
    f"The axis is logarithmic where values above 1 occur and the 99th percentile is over {LOG_SPREAD:g} times the "
    "median, unless there are few whole numbers, which have a bar each. Heights are logarithmic where the tallest bar "
    f"is over {TALL:g} times the median bar, and a colour then shows its share of the bar. Both are said below such a "
    "chart. Half a percent of the values at either end may stand in the outermost bars."
)


@dataclass(frozen=True)
class Mark:
    """A value that a line is drawn at, and what to call it.

    `side` is -1 where the value itself is to its right, as with a minimum, and 1 where it is to its left. A `faint` one
    holds for some languages or genres only.
    """

    value: float
    label: str
    side: int = -1
    faint: bool = False


@dataclass(frozen=True)
class Line:
    """A mark as it is drawn; `named` where there is room for its label."""

    x: float
    label: str
    faint: bool
    named: bool


@dataclass(frozen=True)
class Piece:
    """A part of a bar, in pixels from the top left."""

    outcome: str
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class Histogram:
    """A drawing of `WIDTH` by `TOP` + `HEIGHT` + `BOTTOM`."""

    pieces: Sequence[Piece]
    lines: Sequence[Line]
    ticks: Sequence[tuple[float, str]]  # x
    tallest: int
    log_axis: bool
    log_height: bool


def histogram_of(tally: ReasonTally, marks: Sequence[Mark] = ()) -> Histogram | None:
    """The drawing; None where there is no value."""
    if not tally.total:
        return None
    values, counts = tally.sorted()
    at = [mark.value for mark in marks]
    low_end, high_end = _ends(values, counts, at)
    whole = _is_whole(values) and _is_whole(np.array(at)) and high_end - low_end < BINS and values[-1] > 1
    log_axis = not whole and _is_wide(tally, float(values[0]))
    zero = log_axis and low_end <= 0
    if zero:
        low_end = 0.5 * float(values[values > 0][0])  # where 0 stands
    edges = _edges(low_end, high_end, log_axis, whole)
    inner = np.searchsorted(edges[1:-1], values, side="right")
    bars = np.zeros((len(edges) - 1, len(OUTCOMES)), np.int64)
    np.add.at(bars, inner, counts)
    heights = bars.sum(axis=1)
    log_height = bool(heights.max() > TALL * np.median(heights[heights > 0]))
    ends = np.log10(edges[[0, -1]]) if log_axis else edges[[0, -1]]

    def x_of(value: float) -> float:
        place = log10(max(value, edges[0])) if log_axis else value
        return round(float((place - ends[0]) / (ends[1] - ends[0]) * WIDTH), 1)

    return Histogram(
        pieces=_pieces(bars, edges, [x_of(edge) for edge in edges], log_height),
        lines=_lines([(x_of(mark.value + 0.5 * mark.side * whole), mark) for mark in marks]),
        ticks=[
            *([(0.0, "0")] if zero else []),
            *((x_of(tick), figure(tick)) for tick in _ticks((1 + zero) * edges[0], edges[-1], log_axis)),
        ],
        tallest=int(heights.max()),
        log_axis=log_axis,
        log_height=log_height,
    )


def _is_wide(tally: ReasonTally, lowest: float) -> bool:
    median, most = tally.quantile(0.5) or 0.0, tally.quantile(0.99) or 0.0
    return lowest >= 0 and most > 1 and most > LOG_SPREAD * median


def _ends(values: Floats, counts: Ints, marks: Sequence[float]) -> tuple[float, float]:
    """From where to where the axis goes: nearly all values, and every mark."""
    cumulative = np.cumsum(counts.sum(axis=1))
    ends = np.searchsorted(cumulative, [ceil(0.005 * cumulative[-1]), ceil(0.995 * cumulative[-1])])
    low, high = (float(values[end]) for end in ends)
    if float(values[-1]) - float(values[0]) <= 1.5 * (high - low) or low == high:
        low, high = float(values[0]), float(values[-1])
    return min([low, *marks]), max([high, *marks])


def _is_whole(values: Floats) -> bool:
    return bool(np.all(values == np.floor(values)))


def _edges(low: float, high: float, log_axis: bool, whole: bool) -> Floats:
    """Of the bars; with `whole` a bar for each whole number."""
    if whole:
        return np.arange(floor(low), ceil(high) + 2, dtype=np.float64) - 0.5
    if log_axis:
        edges: Floats = np.power(10.0, np.linspace(log10(low), log10(max(high, 2 * low) * 1.0001), BINS + 1))
        return edges
    largest = max(abs(low), abs(high))
    more = max(1.0, largest) if high - low <= max(LEAST, 1e-12 * largest) else 0.0
    return np.linspace(low, high + more, BINS + 1)


def _lines(marks: Sequence[tuple[float, Mark]]) -> list[Line]:
    """Names go first to the marks that hold for all, then to those that have room left."""
    named: list[float] = []
    for x, _ in sorted(marks, key=lambda item: item[1].faint):  # stable
        if all(abs(x - other) >= APART for other in named):
            named.append(x)
    return [Line(x, mark.label, mark.faint, x in named) for x, mark in marks]


def _pieces(bars: Ints, edges: Floats, x: Sequence[float], log_height: bool) -> list[Piece]:
    tallest = int(bars.sum(axis=1).max())
    scale = log10(1 + tallest) if log_height else float(tallest)
    pieces = []
    for i, bar in enumerate(bars):
        whole = int(bar.sum())
        if not whole:
            continue
        height = HEIGHT * (log10(1 + whole) if log_height else whole) / scale
        told = ", ".join(f"{count(int(n))} {SAID[name]}" for name, n in zip(OUTCOMES, bar, strict=True) if n)
        title = f"{figure(edges[i])} to {figure(edges[i + 1])}: {told}"
        bottom = float(TOP + HEIGHT)
        for name, n in zip(OUTCOMES, bar, strict=True):
            if n:
                tall = max(1.0, round(height * int(n) / whole, 1))  # what is there can be seen
                bottom -= tall
                width = max(0.5, round(x[i + 1] - x[i] - 0.6, 1))
                pieces.append(Piece(name, x[i], round(bottom, 1), width, tall, title))
    return pieces


def _ticks(low: float, high: float, log_axis: bool) -> list[float]:
    if log_axis:
        powers = range(floor(log10(low)), ceil(log10(high)) + 1)
        steps = (1, 2, 5) if log10(high / low) < 2.5 else (1,)
        return [m * 10.0**p for p in powers for m in steps if low <= m * 10.0**p <= high]
    raw = (high - low) / 6
    power = 10.0 ** floor(log10(raw))
    width = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    return [float(f"{i * width:.12g}") for i in range(ceil(low / width), floor(high / width) + 1)]
