"""How much of a text is no letters."""

import re
from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from obelics_pipeline.filters import statistics
from obelics_pipeline.filters.characters import SPECIAL_BITMAP, SPECIAL_STRING
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.spans import Span, capped
from obelics_pipeline.filters.text import Text

_SPECIAL = re.compile(f"[{re.escape(SPECIAL_STRING)}]+")


@dataclass(frozen=True, config=STRICT)
class SpecialCharacterRatio:
    """Share of special characters, spaces and digits included (reference statistic 4): prose has 0.18 to 0.25.

    `min_words`: fewer words or numbers than that count as all right, 0.0: a price or a year is no garbage.
    """

    name: ClassVar[str] = "special_character_ratio"
    min_words: Annotated[int, Field(ge=0)] = 0

    def score(self, text: Text) -> float:
        """0 to 1; 0 for an empty text."""
        if self._is_short(text):
            return 0.0
        return statistics.count_characters(SPECIAL_BITMAP, text.text) / len(text.text) if text.text else 0.0

    def spans(self, text: Text) -> list[Span]:
        """Runs of special characters; none where fewer than `min_words` words made the score."""
        if self._is_short(text):
            return []
        return capped(found.span() for found in _SPECIAL.finditer(text.text))

    def _is_short(self, text: Text) -> bool:
        few = self.min_words
        return len(text.text.split(None, few)) < few and len(text.words) < few
