"""How much of a text is phrases that occur more than once."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters import statistics
from obelics_pipeline.filters.grams import repeated_words
from obelics_pipeline.filters.options import STRICT, GramLength
from obelics_pipeline.filters.spans import Span, capped, placed_words
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class WordRepetitionRatio:
    """Share of the word n-grams that occur more than once (reference statistic 3; the paper's n is 5)."""

    name: ClassVar[str] = "word_repetition_ratio"
    n: GramLength = 5

    def score(self, text: Text) -> float:
        """0 to 1; 0 where there are fewer than n words."""
        return statistics.word_repetition(text.words, self.n)

    def spans(self, text: Text) -> list[Span]:
        """The words of the n-grams that occur more than once, each time; words in a row are one range."""
        words = list(placed_words(text))
        runs = repeated_words([word for word, _ in words], self.n)
        return capped((words[first][1][0], words[after - 1][1][1]) for first, after in runs)
