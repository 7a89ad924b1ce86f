"""Stages of a user's own, and where each stands among the others."""

from __future__ import annotations

from pydantic import Field

from obelics_pipeline.core.config.section import Section


class OwnStage(Section):
    """One further stage: see docs/stages.md."""

    use: str = Field(
        description="Where its value is: path/to/file.py:NAME (the path as seen from where the command is given), "
        "module:NAME, or the name of an entry point of the group obelics_pipeline.stages. It is code, and it is run.",
    )
    after: str = Field("site", description="The stage whose documents it reads: dedup, site, consent, or an own one.")
