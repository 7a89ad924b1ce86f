"""Where a stage of a user's own comes from: a file, a module, or an entry point of an installed package."""

from __future__ import annotations

from importlib.metadata import entry_points

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.origin import Origin
from obelics_pipeline.core.origin import origin_of as found

GROUP = "obelics_pipeline.stages"  # of entry points
FORM = "give path/to/file.py:NAME or module:NAME"


def origin_of(use: str) -> Origin:
    """The origin of what a config names. Raises UserError if it does not exist."""
    try:
        return found(use if ":" in use else _entry_point(use), FORM)
    except ValueError as error:
        raise UserError(f"config: stages.use {use}: {error}") from None


def _entry_point(name: str) -> str:
    points = {point.name: point.value for point in entry_points(group=GROUP)}
    if name not in points:
        installed = ", ".join(sorted(points)) or "none"
        raise ValueError(f"no installed stage has this name (installed: {installed}); {FORM}")
    return points[name]
