"""How much of a text is the same few strings of characters."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters import statistics
from obelics_pipeline.filters.grams import repeated_characters
from obelics_pipeline.filters.options import STRICT, GramLength
from obelics_pipeline.filters.spans import Span, capped
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class CharacterRepetitionRatio:
    """Share of the most frequent character n-grams among all (reference statistic 2; the paper's n is 10)."""

    name: ClassVar[str] = "character_repetition_ratio"
    n: GramLength = 10

    def score(self, text: Text) -> float:
        """0 to 1; 0 where the text is shorter than n."""
        return statistics.character_repetition(text.text, self.n)

    def spans(self, text: Text) -> list[Span]:
        """The characters of the n-grams that are counted, each time that they occur."""
        return capped(repeated_characters(text.text, self.n))
