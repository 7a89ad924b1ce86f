"""Bars of a tally, with thresholds as lines: everything that the drawing needs, in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from obelics_pipeline.report.human import count, figure
from obelics_pipeline.report.tally import OUTCOMES, Floats, Ints, Tally

BINS = 48
WIDTH, HEIGHT, TOP, BOTTOM = 620, 130, 16, 18  # of the bars; above them for marks, below for the axis
LOG_SPREAD = 10.0  # the axis is logarithmic where the 99th percentile is so many times the median, and above 1
TALL = 50.0  # heights are logarithmic where the tallest bar is so many times the median one
RULE = (
    f"The axis is logarithmic where values above 1 occur and the 99th percentile is over {LOG_SPREAD:g} times the median; "
    f"heights are logarithmic where the tallest bar is over {TALL:g} times the median bar (said below such a chart), and "
    "a colour then shows its share of the bar. Half a percent of the values at either end may stand in the outermost bars."
)


@dataclass(frozen=True)
class Mark:
    """A value that lines are drawn at, and what to call it. A `faint` one holds for some languages or genres only."""

    value: float
    label: str
    faint: bool = False


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
    marks: Sequence[tuple[float, Mark]]  # x
    ticks: Sequence[tuple[float, str]]  # x
    tallest: int
    log_axis: bool
    log_height: bool


def histogram_of(tally: Tally, marks: Sequence[Mark] = ()) -> Histogram | None:
    """The drawing; None where there is no value."""
    if not tally.total:
        return None
    values, counts = tally.sorted()
    log_axis = _is_wide(tally, float(values[0]))
    edges = _edges(values, counts, [mark.value for mark in marks], log_axis)
    inner = np.searchsorted(edges[1:-1], values, side="right")
    bars = np.zeros((len(edges) - 1, len(OUTCOMES)), np.int64)
    np.add.at(bars, inner, counts)
    heights = bars.sum(axis=1)
    log_height = bool(heights.max() > TALL * np.median(heights[heights > 0]))
    low, high = _on_axis(edges[0], log_axis), _on_axis(edges[-1], log_axis)

    def x_of(value: float) -> float:
        return round((_on_axis(value, log_axis) - low) / (high - low) * WIDTH, 1)

    return Histogram(
        pieces=_pieces(bars, edges, [x_of(edge) for edge in edges], log_height),
        marks=[(x_of(mark.value), mark) for mark in marks if edges[0] <= mark.value <= edges[-1]],
        ticks=[(x_of(tick), figure(tick)) for tick in _ticks(edges[0], edges[-1], log_axis)],
        tallest=int(heights.max()),
        log_axis=log_axis,
        log_height=log_height,
    )


def _is_wide(tally: Tally, lowest: float) -> bool:
    median, most = tally.quantile(0.5) or 0.0, tally.quantile(0.99) or 0.0
    return lowest >= 0 and most > 1 and most > LOG_SPREAD * median


def _on_axis(value: float, log_axis: bool) -> float:
    """Zero stands where a half does: there, values are counts."""
    return log10(max(value, 0.5)) if log_axis else value


def _edges(values: Floats, counts: Ints, marks: Sequence[float], log_axis: bool) -> Floats:
    cumulative = np.cumsum(counts.sum(axis=1))
    ends = np.searchsorted(cumulative, [ceil(0.005 * cumulative[-1]), ceil(0.995 * cumulative[-1])])
    low, high = (float(values[end]) for end in ends)
    if float(values[-1]) - float(values[0]) <= 1.5 * (high - low):
        low, high = float(values[0]), float(values[-1])
    low, high = min([low, *marks]), max([high, *marks])
    if log_axis:
        low = max(low, 0.5)
        high = max(high, 2 * low)
        return np.logspace(log10(low), log10(high * 1.0001), BINS + 1)
    if np.all(values == np.floor(values)) and high - low < BINS:
        return np.arange(floor(low), ceil(high) + 2) - 0.5  # a bar for each whole number
    if high == low:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, BINS + 1)


def _pieces(bars: Ints, edges: Floats, x: Sequence[float], log_height: bool) -> list[Piece]:
    tallest = int(bars.sum(axis=1).max())
    scale = log10(1 + tallest) if log_height else float(tallest)
    pieces = []
    for i, bar in enumerate(bars):
        whole = int(bar.sum())
        if not whole:
            continue
        height = HEIGHT * (log10(1 + whole) if log_height else whole) / scale
        told = ", ".join(f"{count(int(n))} {_SAID[name]}" for name, n in zip(OUTCOMES, bar, strict=True) if n)
        title = f"{figure(edges[i])} to {figure(edges[i + 1])}: {told}"
        bottom = float(TOP + HEIGHT)
        for name, n in zip(OUTCOMES, bar, strict=True):
            if n:
                tall = max(1.0, round(height * int(n) / whole, 1))  # what is there can be seen
                bottom -= tall
                width = max(0.5, round(x[i + 1] - x[i] - 0.6, 1))
                pieces.append(Piece(name, x[i], round(bottom, 1), width, tall, title))
    return pieces


_SAID = {"kept": "kept", "dropped": "dropped by this score", "elsewhere": "dropped by something else"}


def _ticks(low: float, high: float, log_axis: bool) -> list[float]:
    if log_axis:
        powers = range(floor(log10(low)), ceil(log10(high)) + 1)
        steps = (1, 2, 5) if log10(high / low) < 2.5 else (1,)
        return [m * 10.0**p for p in powers for m in steps if low <= m * 10.0**p <= high]
    raw = (high - low) / 6
    power = 10.0 ** floor(log10(raw))
    width = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    return [round(i * width, 12) for i in range(ceil(low / width), floor(high / width) + 1)]
