"""An account as one HTML file, which loads, links and runs nothing."""

from __future__ import annotations

from importlib.resources import files

from markupsafe import Markup

from obelics_pipeline.core.html.templates import sha256_of, templates_of
from obelics_pipeline.training.experiments.ablate.account import OF_FAILED, Account
from obelics_pipeline.training.experiments.ablate.show import ASTERISK, arm_rows, charts, difference_rows, shown

WIDE = "table { display: block; overflow-x: auto; white-space: nowrap; }"  # many arms are many columns


def page(account: Account) -> str:
    """The file, in the style of the account of a spike."""
    style = files("obelics_pipeline.training.diagnosis").joinpath("page.css").read_text(encoding="utf-8") + WIDE
    return (
        templates_of("obelics_pipeline.training.experiments.ablate")
        .get_template("page.html")
        .render(
            style=style,
            style_hash=sha256_of(style),
            a=account,
            of_failed=OF_FAILED,
            asterisk=ASTERISK,
            shown=shown(account),
            differences=difference_rows(account),
            arms=arm_rows(account),
            charts=map(Markup, charts(account)),  # their template escapes
        )
    )
