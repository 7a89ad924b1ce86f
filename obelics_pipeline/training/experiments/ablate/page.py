"""The result of an experiment as one HTML file without links, scripts or remote content."""

from __future__ import annotations

from importlib.resources import files

from markupsafe import Markup

from obelics_pipeline.core.html.templates import sha256_of, templates_of
from obelics_pipeline.training.experiments.ablate.result import OF_FAILED, AblationResult
from obelics_pipeline.training.experiments.ablate.show import ASTERISK, arm_rows, charts, difference_rows, shown

WIDE = "table { display: block; overflow-x: auto; white-space: nowrap; }"  # many arms are many columns


def page(result: AblationResult) -> str:
    """The file, in the style of a loss diagnosis."""
    style = files("obelics_pipeline.training.diagnosis").joinpath("page.css").read_text(encoding="utf-8") + WIDE
    return (
        templates_of("obelics_pipeline.training.experiments.ablate")
        .get_template("page.html")
        .render(
            style=style,
            style_hash=sha256_of(style),
            a=result,
            of_failed=OF_FAILED,
            asterisk=ASTERISK,
            shown=shown(result),
            differences=difference_rows(result),
            arms=arm_rows(result),
            charts=map(Markup, charts(result)),  # their template escapes
        )
    )
