"""How much of a text is punctuation: lists of links have none."""

import re
from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from obelics_pipeline.filters import statistics
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.spans import Span, capped
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class PunctuationRatio:
    """Share of punctuation marks among marks and words (reference statistic 7).

    `min_words`: fewer tokens than that count as all right, 1.0 (the paper: 12, for paragraphs). `marks`: the characters
    that count; the reference has the six of ASCII, to which Chinese, Arabic or Hindi has none.
    """

    name: ClassVar[str] = "punctuation_ratio"
    min_words: Annotated[int, Field(ge=0)] = 0
    marks: Annotated[str, Field(min_length=1)] = ",;:?!."

    def score(self, text: Text) -> float:
        """0 to 1; 0 where there is no token."""
        marks, tokens = statistics.count_punctuation(text.text, self.marks)
        if not tokens:
            return 0.0
        return 1.0 if tokens < self.min_words else marks / tokens

    def spans(self, text: Text) -> list[Span]:
        """Runs of marks; none where fewer than `min_words` tokens made the score."""
        counted = "".join(mark for mark in self.marks if not re.match(r"[\w']", mark))  # others are part of a word
        if not counted or statistics.count_punctuation(text.text, self.marks)[1] < self.min_words:
            return []
        return capped(found.span() for found in re.finditer(f"[{re.escape(counted)}]+", text.text))
