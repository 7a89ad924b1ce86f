"""A score of whole documents that a stage puts bounds on, and where a config has these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from obelics_pipeline.core.config.filtering import LanguageBounds


@dataclass(frozen=True)
class Bounded:
    """One score, by its name, and its bounds. `place` is that of the config, such as `site.document.site_documents`."""

    name: str
    place: str
    bounds: LanguageBounds


def bounded(section: str, scores: Mapping[str, LanguageBounds]) -> list[Bounded]:
    """The bounds of a section of the config, in their order."""
    return [Bounded(name, f"{section}.{name}", bounds) for name, bounds in scores.items()]
