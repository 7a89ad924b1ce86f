"""What measures a text: one small file per filter, found by name in one registry.

A filter only measures (`score(text) -> float | None`); thresholds of the config decide. None: it does not apply.
"""

from obelics_pipeline.filters.measuring import Filter
from obelics_pipeline.filters.own import filter
from obelics_pipeline.filters.registry import build, names
from obelics_pipeline.filters.rule import paragraph_score
from obelics_pipeline.filters.text import Text

__all__ = ["Filter", "Text", "build", "filter", "names", "paragraph_score"]
