"""The report as one HTML file that loads nothing: text from the web in it is text, whatever it says."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from obelics_pipeline.explain.visible import on_a_line, visible
from obelics_pipeline.report import histogram, human
from obelics_pipeline.report.reasons import words_for

_PACKAGE = "obelics_pipeline.report"
WIDEST = 200  # characters of a URL or a name that are shown


def page(name: str, **values: Any) -> str:
    """A template filled. Its policy lets a browser style by what is ours only, known by hash, and load nothing."""
    style = files(_PACKAGE).joinpath("page.css").read_text(encoding="utf-8")
    sha256 = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    template = _environment().get_template(name)
    return template.render(style=style, style_hash=sha256, **values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader(_PACKAGE, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    )
    made.filters |= {
        "n": human.count,
        "of": human.counted,
        "many": human.many,
        "size": human.size,
        "seconds": human.seconds,
        "money": human.money,
        "figure": human.figure,
        "line": lambda text: on_a_line(text, WIDEST),
        "said": words_for,
    }
    made.globals |= {"share": human.share, "drawing": histogram}
    return made


def _harmless(value: Any) -> Any:
    """Every text that a template shows, escaped afterwards: what acts on the text around it is shown by its number."""
    return visible(value) if type(value) is str else value
