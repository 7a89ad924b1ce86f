"""A loss diagnosis as one HTML file with its pictures inside; it has no links, scripts or remote content."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from obelics_pipeline.core.html.templates import sha256_of, templates_of
from obelics_pipeline.core.html.visible import on_a_line
from obelics_pipeline.training.diagnosis import lines
from obelics_pipeline.training.diagnosis.loss_diagnosis import LossDiagnosis
from obelics_pipeline.training.diagnosis.plot import Curve, Mark, Panel, curves_svg

_PACKAGE = "obelics_pipeline.training.diagnosis"
WIDEST = 300  # characters of a URL that are shown
SHOWN = ("loss", "grad_norm", "log_z")


def page(diagnosis: LossDiagnosis) -> str:
    """The file. Its policy lets a browser style by what is ours only, known by hash, and show data URLs."""
    style = files(_PACKAGE).joinpath("page.css").read_text(encoding="utf-8")
    marks = [Mark(diagnosis.onset, "it begins"), Mark(diagnosis.step, f"step {diagnosis.step:,}", 4)]
    if diagnosis.suspects:
        marks.append(Mark(diagnosis.suspects[0].step, "first suspect", 2))
    return (
        _environment()
        .get_template("page.html")
        .render(
            style=style,
            style_hash=sha256_of(style),
            a=diagnosis,
            heading=list(lines.heading(diagnosis)),
            chart=Markup(curves_svg(_panels(diagnosis), marks)),  # every text in it was escaped by its template
            gradient=lines.gradient_text,
            suspicion=lines.suspicion_text,
            removal=lines.removal_text,
            command=lines.explain_command,
        )
    )


def _panels(diagnosis: LossDiagnosis) -> list[Panel]:
    """The main signals, and of the others those that went farthest."""
    named = {signal.name: signal for signal in diagnosis.signals}
    others = [lead.name for lead in diagnosis.leads if lead.name not in SHOWN][:2]
    chosen = [named[name] for name in (*SHOWN, *others) if name in named]
    return [Panel(s.name, [Curve("", list(zip(s.steps.tolist(), s.values.tolist(), strict=True)))]) for s in chosen]


@cache
def _environment() -> Environment:
    made = templates_of(_PACKAGE)
    made.filters |= {"line": _line, "share": lines.share_text, "g": lines.number_of}
    return made


def _line(text: str) -> str:
    return on_a_line(text, WIDEST)
