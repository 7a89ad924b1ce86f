"""Figures of an account as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from obelics_pipeline.ablate.account import Account, ArmTold
from obelics_pipeline.ablate.student import Difference, Mean
from obelics_pipeline.spike.plot import Curve, Panel, curves_svg


def number(value: float) -> str:
    """Four places that count; whole numbers whole."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4f}" if 0.01 <= abs(value) < 1000 else f"{value:.3g}"


def with_interval(of: Mean | Difference, signed: bool = False) -> str:
    """A mean and its interval."""
    mean = f"{'+' if signed and of.mean > 0 else ''}{number(of.mean)}"
    return mean if of.low is None or of.high is None else f"{mean} ({number(of.low)} to {number(of.high)})"


def counted(counts: Mapping[str, float]) -> str:
    """Counts by name, in a line."""
    return ", ".join(f"{name} {count:,.4g}" for name, count in counts.items()) or "none"


def told(of: Mean | Difference, seeds: int, signed: bool = False) -> str:
    """The same, with how many seeds it is of where some have no such number: those may be the ones that diverged."""
    return with_interval(of, signed) + ("" if of.n == seeds else f", of {of.n} of {seeds} seeds")


def difference_rows(account: Account) -> Iterator[tuple[str, ...]]:
    """Of the table of differences: arm, figure, difference, the least that would show, what it says."""
    for one in account.compared:
        d = one.difference
        what = f"{one.figure}, {one.unit}" if one.unit else one.figure
        seeds = len(next(arm.seeds for arm in account.arms if arm.name == one.arm))
        yield one.arm, what, told(d, seeds, True), "" if d.least is None else f"{d.least:.3g}", one.says


def arm_rows(account: Account) -> Iterator[tuple[str, ...]]:
    """Of the table of arms: the name of each row, and its cells."""
    rows: dict[str, Callable[[ArmTold], str]] = {
        "differs by": lambda arm: arm.differs,
        "seeds": lambda arm: ", ".join(map(str, arm.seeds)),
        "steps": lambda arm: f"{arm.steps:,}",
        "documents": lambda arm: counted(arm.documents),
        "passes over them": lambda arm: counted(arm.passes),
        "restarts": lambda arm: f"{arm.restarts}",
        "what the guard did, all seeds": lambda arm: counted(arm.actions),
    }
    for name, cell in rows.items():
        yield name, *(cell(arm) for arm in account.arms)
    for figure in dict.fromkeys(name for arm in account.arms for name in arm.figures):
        yield (
            figure,
            *(told(arm.figures[figure], len(arm.seeds)) if figure in arm.figures else "" for arm in account.arms),
        )


def curves(account: Account, axis: Literal["tokens", "images"]) -> str:
    """Training loss and gradient norm by tokens or images seen, as SVG: a colour for each arm, a line for each seed."""
    names = [arm.name for arm in account.arms]
    panels = []
    for title, name in (("training loss", "loss"), ("gradient norm", "grad_norm")):
        found = []
        for one in account.outcomes:
            points = [(x, y) for x, y in zip(getattr(one, axis), getattr(one, name), strict=True) if y is not None]
            lead = one.seed == next(o.seed for o in account.outcomes if o.arm == one.arm)
            found.append(Curve(one.arm if lead else "", points, names.index(one.arm), faint=not lead))
        panels.append(Panel(f"{title} by {axis}", found))
    return curves_svg(panels)
