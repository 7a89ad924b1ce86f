"""Templates of pages and pictures that show text from the web: whatever it says, it is text."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from obelics_pipeline.core.html.visible import visible


def templates_of(*packages: str) -> Environment:
    """The templates that lie beside the modules of packages, which are looked through in their order.

    What they show is escaped; what acts is shown by its number. A name that a template does not get is an error.
    """
    return Environment(
        loader=ChoiceLoader([PackageLoader(package, ".") for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    )


def _harmless(value: Any) -> Any:
    """Escaped afterwards; markup that is ours is of another type."""
    return visible(value) if type(value) is str else value


def sha256_of(content: str) -> str:
    """Of a style or a script, in base64: a policy knows them by it."""
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
