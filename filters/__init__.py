"""What measures a text: one small file per filter, found by name in one registry.

A filter only measures (`score(text) -> float | None`); thresholds of the config decide. None: it does not apply.
"""

from filters.registry import Filter, build, names
from filters.rule import paragraph_score
from filters.text import Text

__all__ = ["Filter", "Text", "build", "names", "paragraph_score"]
