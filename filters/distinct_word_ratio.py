"""How rich a text is in different words."""

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from pydantic import PositiveInt
from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.spans import Span, capped, placed_words
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class DistinctWordRatio:
    """Distinct words by words, averaged over every `window` words in a row, so that long and short texts compare.

    The moving-average type-token ratio (Covington and McFall 2010, "Cutting the Gordian Knot"). Stuffed text says the
    same again and has little; a list of names has much.
    """

    name: ClassVar[str] = "distinct_word_ratio"
    window: PositiveInt = 100

    def score(self, text: Text) -> float | None:
        """0 to 1; None for fewer words than a window."""
        words, size = text.words, self.window
        if len(words) < size:
            return None
        inside = Counter(words[:size])
        distinct = total = len(inside)
        for goes, comes in zip(words, words[size:], strict=False):
            inside[comes] += 1
            inside[goes] -= 1
            distinct += (inside[comes] == 1) - (inside[goes] == 0) if comes != goes else 0
            total += distinct
        return round(total / ((len(words) - size + 1) * size), 6)

    def spans(self, text: Text) -> list[Span]:
        """The words that a window has a second time; none where there is no score."""
        return capped(self._seen_before(text)) if len(text.words) >= self.window else []

    def _seen_before(self, text: Text) -> Iterator[Span]:
        last: dict[str, int] = {}
        for place, (word, span) in enumerate(placed_words(text)):
            if place - last.get(word, -self.window) < self.window:
                yield span
            last[word] = place
