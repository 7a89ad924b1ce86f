"""The report as one HTML file that loads nothing: text from the web in it is text, whatever it says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, pass_context

from obelics_pipeline.core.html.templates import sha256_of, templates_of
from obelics_pipeline.core.html.visible import on_a_line
from obelics_pipeline.inspect.report import histogram, human
from obelics_pipeline.inspect.report.reasons import words_for

_PACKAGE = "obelics_pipeline.inspect.report"
WIDEST = 200  # characters of a URL or a name that are shown


def page(name: str, words: Mapping[str, str], package: str = _PACKAGE, **values: Any) -> str:
    """A template filled. Its policy lets a browser style by what is ours only, known by hash, and load nothing.

    `words` are those for the reasons of stages and filters; `package` is where the template lies, if not here.
    """
    style = files(_PACKAGE).joinpath("page.css").read_text(encoding="utf-8")
    template = _environment(package).get_template(name)
    return template.render(style=style, style_hash=sha256_of(style), words=words, **values)


@cache
def _environment(package: str) -> Environment:
    made = templates_of(package, _PACKAGE)
    made.filters |= {
        "n": human.count,
        "of": human.counted,
        "many": human.many,
        "size": human.size,
        "seconds": human.seconds,
        "money": human.money,
        "figure": human.figure,
        "line": lambda text: on_a_line(text, WIDEST),
        "said": pass_context(lambda context, reason: words_for(reason, context["words"])),
    }
    made.globals |= {"share": human.share, "drawing": histogram}
    return made
