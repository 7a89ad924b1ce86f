"""Number of words."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class WordCount:
    """Number of words (reference statistic 1)."""

    name: ClassVar[str] = "word_count"

    def score(self, text: Text) -> float:
        """The count."""
        return float(len(text.words))
