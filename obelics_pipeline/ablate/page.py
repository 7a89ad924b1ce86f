"""An account as one HTML file, which loads, links and runs nothing."""

from __future__ import annotations

from importlib.resources import files

from markupsafe import Markup

from obelics_pipeline.ablate.account import OF_FAILED, Account
from obelics_pipeline.ablate.show import cell, counted, curves, figures_of, with_interval
from obelics_pipeline.explain.templates import sha256_of, templates_of


def page(account: Account) -> str:
    """The file, in the style of the account of a spike."""
    style = files("obelics_pipeline.spike").joinpath("page.css").read_text(encoding="utf-8")
    return (
        templates_of("obelics_pipeline.ablate")
        .get_template("page.html")
        .render(
            style=style,
            style_hash=sha256_of(style),
            a=account,
            of_failed=OF_FAILED,
            figures=figures_of(account),
            cell=cell,
            counted=counted,
            difference=lambda of: with_interval(of, signed=True),
            charts=[Markup(curves(account, "tokens")), Markup(curves(account, "images"))],  # its template escapes
        )
    )
