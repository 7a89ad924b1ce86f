"""Figures of an account as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def figures_of(account: Account) -> Sequence[str]:
    """The names of all figures, in their order."""
    return list(dict.fromkeys(name for arm in account.arms for name in arm.figures))


def cell(arm: ArmTold, figure: str) -> str:
    """A figure of an arm; empty where it has none."""
    return with_interval(arm.figures[figure]) if figure in arm.figures else ""


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
