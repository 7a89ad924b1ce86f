"""Curves over steps, and a grid of layers by steps, as SVG that loads and runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from math import floor, isfinite, log10

from jinja2 import Template

from obelics_pipeline.core.html.templates import templates_of
from obelics_pipeline.core.html.visible import on_a_line

WIDTH, HEIGHT, LEFT, TOP, BELOW = 720, 96, 64, 18, 18  # pixels of a panel; room for the axis, the title, the steps
MOST_POINTS = 1200  # of a curve: of more, the lowest and the highest of each part are drawn
COLOURS = ("#1d4f91", "#d2554c", "#3f8f5f", "#b07d12", "#7a4fa3", "#5a606b")
LETTER = 6  # pixels that a letter of a label takes, about
CELL = 11  # pixels of a row of a grid
_HEAT = ((255, 255, 255), (250, 205, 120), (210, 85, 76), (90, 20, 60))  # of a grid, from usual to far

Point = tuple[int, float]


@dataclass(frozen=True)
class Curve:
    """Values by step. A `faint` one is a branch that was given up."""

    name: str
    points: Sequence[Point]
    colour: int = 0
    faint: bool = False


@dataclass(frozen=True)
class Panel:
    """Some curves over one axis."""

    title: str
    curves: Sequence[Curve]


@dataclass(frozen=True)
class Mark:
    """A step with a line through all panels."""

    step: int
    label: str
    colour: int = 1


@dataclass(frozen=True)
class _Drawn:
    title: str
    top: float
    paths: Sequence[tuple[str, str, bool]]  # path, colour, faint
    ticks: Sequence[tuple[float, str]]  # y
    names: Sequence[tuple[str, str]]  # of several curves: name, colour


@dataclass(frozen=True)
class _Picture:
    width: int
    height: int
    left: int
    panels: Sequence[_Drawn]
    steps: Sequence[tuple[float, str]]  # x
    marks: Sequence[tuple[float, str, str, str]]  # x, label, colour, which end of the label stands there
    cells: Sequence[tuple[float, float, float, str, str]] = field(default=())  # x, y, width, colour, title
    rows: Sequence[tuple[float, str]] = field(default=())  # y, name


def curves_svg(panels: Sequence[Panel], marks: Sequence[Mark] = ()) -> str:
    """Panels below each other over the same steps."""
    steps = [step for panel in panels for curve in panel.curves for step, _ in curve.points]
    low, high = (min(steps), max(steps)) if steps else (0, 1)
    each = TOP + HEIGHT + BELOW
    drawn = [_panel(panel, i * each + TOP, low, high) for i, panel in enumerate(panels)]
    named = _marks([mark for mark in marks if low <= mark.step <= high], low, high)
    picture = _Picture(LEFT + WIDTH + 12, len(panels) * each, LEFT, drawn, _steps(low, high), named)
    return _template().render(p=picture, panel_height=HEIGHT)


def grid_svg(title: str, rows: Sequence[tuple[str, Sequence[Point]]], marks: Sequence[Mark] = ()) -> str:
    """A row a module, a column a sampled step, the colour by how many spreads a value is from what is usual for it."""
    steps = sorted({step for _, points in rows for step, _ in points})
    low, high = (steps[0], steps[-1]) if steps else (0, 1)
    wide = max(1.0, WIDTH / max(len(steps), 1))
    places = {step: LEFT + 60 + i * (WIDTH - 60) / max(len(steps), 1) for i, step in enumerate(steps)}
    cells = [
        (round(places[step], 1), float(TOP + i * CELL), round(wide, 1), _heat(z), f"{name} step {step}: {z:.1f}")
        for i, (name, points) in enumerate(rows)
        for step, z in points
    ]
    named = [(float(TOP + i * CELL + CELL - 2), on_a_line(name, 22)) for i, (name, _) in enumerate(rows)]
    height = TOP + CELL * len(rows)
    every = max(1, len(steps) // 8)
    ticks = [(round(places[step], 1), f"{step:,}") for step in steps[::every]]
    lines = [
        (places[min(steps, key=lambda s: abs(s - mark.step))], "", COLOURS[mark.colour], "start")
        for mark in marks
        if steps and low <= mark.step <= high
    ]
    drawn = _Drawn(title, float(TOP), (), (), ())
    picture = _Picture(LEFT + WIDTH + 12, height + BELOW, LEFT, [drawn], ticks, lines, cells, named)
    return _template().render(p=picture, panel_height=CELL * len(rows))


def _panel(panel: Panel, top: float, low: int, high: int) -> _Drawn:
    values = [value for curve in panel.curves for _, value in curve.points if isfinite(value)]
    bottom, most = (min(values), max(values)) if values else (0.0, 1.0)
    if bottom == most:
        bottom, most = bottom - 0.5 * (abs(bottom) or 1), most + 0.5 * (abs(most) or 1)

    def y(value: float) -> float:
        return round(top + HEIGHT * (most - value) / (most - bottom), 1)

    paths = []
    for curve in panel.curves:
        points = [(_x(s, low, high), y(v)) for s, v in _thinned(curve.points) if isfinite(v)]
        if points:
            path = "M" + "L".join(f"{a:g} {b:g}" for a, b in points)
            paths.append((path if len(points) > 1 else path + "h2", COLOURS[curve.colour % len(COLOURS)], curve.faint))
    names = [(on_a_line(c.name, 30), COLOURS[c.colour % len(COLOURS)]) for c in panel.curves if c.name]
    ticks = [(y(tick), f"{tick:.4g}") for tick in _ticks(bottom, most)]
    return _Drawn(on_a_line(panel.title, 60), top, paths, ticks, names if len(panel.curves) > 1 else ())


def _marks(marks: Sequence[Mark], low: int, high: int) -> list[tuple[float, str, str, str]]:
    """Those of one step are one line. A label that has no room beside the one before it is left out."""
    by_step: dict[int, list[Mark]] = {}
    for mark in marks:
        by_step.setdefault(mark.step, []).append(mark)
    named: list[tuple[float, str, str, str]] = []
    free = 0.0
    for step, here in sorted(by_step.items()):
        x, label = _x(step, low, high), on_a_line(", ".join(dict.fromkeys(mark.label for mark in here)), 40)
        wide = LETTER * len(label)
        to_the_left = x + wide > LEFT + WIDTH
        begins = x - wide if to_the_left else x
        if begins >= free:
            free = begins + wide + LETTER
        else:
            label = ""
        named.append((x, label, COLOURS[here[0].colour], "end" if to_the_left else "start"))
    return named


def _x(step: int, low: int, high: int) -> float:
    return round(LEFT + WIDTH * (step - low) / max(high - low, 1), 1)


def _steps(low: int, high: int) -> list[tuple[float, str]]:
    return [(_x(round(t), low, high), f"{round(t):,}") for t in _ticks(low, max(high, low + 1)) if t == round(t)]


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """No peak is lost: of each part its lowest and its highest."""
    if len(points) <= MOST_POINTS:
        return points
    size = -(-2 * len(points) // MOST_POINTS)
    found: list[Point] = []
    for start in range(0, len(points), size):
        part = points[start : start + size]
        ends = {min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])}
        found += sorted(ends)
    return found


def _ticks(low: float, high: float) -> list[float]:
    raw = (high - low) / 4
    power = 10.0 ** floor(log10(raw))
    width = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    first = -(-low // width)
    return [float(f"{(first + i) * width:.12g}") for i in range(12) if (first + i) * width <= high]


def _heat(z: float) -> str:
    """White up to 2 spreads, dark from 20 on."""
    if not isfinite(z):
        return "#000000"
    at = min(max((abs(z) - 2) / 18, 0.0), 1.0) * (len(_HEAT) - 1)
    i = min(int(at), len(_HEAT) - 2)
    mixed = (round(a + (b - a) * (at - i)) for a, b in zip(_HEAT[i], _HEAT[i + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


@cache
def _template() -> Template:
    return templates_of("obelics_pipeline.training.diagnosis").get_template("plot.svg")
