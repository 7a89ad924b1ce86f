"""Figures of a result as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from obelics_pipeline.training.diagnosis.plot import Curve, Panel, curves_svg
from obelics_pipeline.training.experiments.ablate.outcome import unit_of
from obelics_pipeline.training.experiments.ablate.result import AblationResult, ArmSummary
from obelics_pipeline.training.experiments.ablate.student import Difference, Mean

ASTERISK = "An asterisk: the interval leaves 0 out."
TOGETHER = 4  # arms in a chart beside the first: as many names as stand beside each other


def number(value: float) -> str:
    """Four places that count; whole numbers whole."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4f}" if abs(value) >= 0.01 else f"{value:.3g}"


def with_interval(of: Mean | Difference, signed: bool = False) -> str:
    """A mean and its interval."""
    mean = f"{'+' if signed and of.mean > 0 else ''}{number(of.mean)}"
    return mean if of.low is None or of.high is None else f"{mean} ({number(of.low)} to {number(of.high)})"


def counted(counts: Mapping[str, float]) -> str:
    """Counts by name, in a line."""
    return ", ".join(f"{name} {count:,.4g}" for name, count in counts.items()) or "none"


def format_mean(of: Mean | Difference, seeds: int, signed: bool = False) -> str:
    """The same, with how many seeds it is of where some have no such number: those may be the ones that diverged."""
    return with_interval(of, signed) + ("" if of.n == seeds else f", of {of.n} of {seeds} seeds")


def shown(result: AblationResult) -> Iterator[str]:
    """What the seeds have shown by the held-out loss, a line for each arm."""
    for one in result.least:
        yield f"{one.arm}: {one.figure} {with_interval(one.difference, True)} {one.unit}: {one.says}"


def difference_rows(result: AblationResult) -> Iterator[tuple[str, ...]]:
    """Of the table of differences, its head first: the name of each figure, and a cell for each arm but the first."""
    arms = [arm for arm in result.arms if arm.name != result.experiment.first]
    yield "", *(arm.name for arm in arms)
    cells = {(one.figure, one.arm): one.difference for one in result.compared}
    for figure in dict.fromkeys(one.figure for one in result.compared):
        unit = unit_of(figure)
        row = [f"{figure}, {unit}" if unit else figure]
        for arm in arms:
            of = cells.get((figure, arm.name))
            row.append("" if of is None else format_mean(of, len(arm.seeds), True) + (" *" if of.shown else ""))
        yield tuple(row)


def arm_rows(result: AblationResult) -> Iterator[tuple[str, ...]]:
    """Of the table of arms, its head first: the name of each row, and a cell for each arm."""
    yield "", *(arm.name for arm in result.arms)
    rows: dict[str, Callable[[ArmSummary], str]] = {
        "seeds": lambda arm: ", ".join(map(str, arm.seeds)),
        "steps": lambda arm: f"{arm.steps:,}",
        "documents": lambda arm: counted(arm.documents),
        "passes over them": lambda arm: counted(arm.passes),
        "restarts": lambda arm: f"{arm.restarts}",
        "what the guard did, all seeds": lambda arm: counted(arm.actions),
    }
    for name, cell in rows.items():
        yield name, *(cell(arm) for arm in result.arms)
    for figure in dict.fromkeys(name for arm in result.arms for name in arm.figures):
        found = ((arm.figures.get(figure), len(arm.seeds)) for arm in result.arms)
        yield figure, *("" if mean is None else format_mean(mean, seeds) for mean, seeds in found)


def charts(result: AblationResult) -> Iterator[str]:
    """Training loss and gradient norm by tokens and by images seen, as SVG: a few arms in each, and the first."""
    arms = [arm.name for arm in result.arms]
    for start in range(1, max(2, len(arms)), TOGETHER):
        names = [*arms[:1], *arms[start : start + TOGETHER]]
        yield from (_curves(result, names, axis) for axis in ("tokens", "images"))


def _curves(result: AblationResult, names: list[str], axis: str) -> str:
    """A colour for each arm, a line for each seed."""
    panels = []
    for title, name in (("training loss", "loss"), ("gradient norm", "grad_norm")):
        found: list[Curve] = []
        for one in result.outcomes:
            if one.arm in names:
                points = [(x, y) for x, y in zip(getattr(one, axis), getattr(one, name), strict=True) if y is not None]
                lead = all(curve.colour != names.index(one.arm) for curve in found)
                found.append(Curve(one.arm if lead else "", points, names.index(one.arm), faint=not lead))
        panels.append(Panel(f"{title} by {axis}", found))
    return curves_svg(panels)
