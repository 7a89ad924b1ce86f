"""How much sentences speak of what those before them did."""

import re
from collections.abc import Iterator
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.spans import Span, capped, placed_words
from obelics_pipeline.filters.text import Text

_SENTENCE_END = re.compile(r"(?<=[.!?…])['\"”’)\]]*\s+|(?<=[。！？])|\n+")
_REACH = 3  # sentences before: reiteration is densest within a paragraph
_SHORTEST_WORD = 4  # letters; shorter ones carry grammar, and are in any sentence
_FEWEST = 5  # sentences


@dataclass(frozen=True, config=STRICT)
class LexicalCohesion:
    """Share of a sentence's words that are in one of the three before it, averaged over sentences.

    Cohesion by reiteration (Halliday and Hasan 1976, "Cohesion in English", chapter 6) of words of four letters and
    more. Text that was put together from unrelated sentences has little, stuffed text has much.
    """

    name: ClassVar[str] = "lexical_cohesion"

    def score(self, text: Text) -> float | None:
        """0 to 1; None for fewer than five sentences with such words."""
        parts = (Text(part, text.language, segment=text.segment).words for part in _SENTENCE_END.split(text.text))
        said = [found for words in parts if (found := {word for word in words if len(word) >= _SHORTEST_WORD})]
        if len(said) < _FEWEST:
            return None
        shares = [
            len(words & set().union(*said[max(0, at - _REACH) : at])) / len(words)
            for at, words in enumerate(said)
            if at
        ]
        return round(sum(shares) / len(shares), 6)

    def spans(self, text: Text) -> list[Span]:
        """The words that are in one of the three sentences before theirs; none where there is no score."""
        return capped(_repeated_words(text)) if self.score(text) is not None else []


def _repeated_words(text: Text) -> Iterator[Span]:
    said: list[set[str]] = []
    for begin, sentence in _sentences(text.text):
        found = placed_words(Text(sentence, text.language, segment=text.segment))
        words = [(word, span) for word, span in found if len(word) >= _SHORTEST_WORD]
        before = set().union(*said[-_REACH:])
        yield from ((begin + first, begin + end) for word, (first, end) in words if word in before)
        said += [{word for word, _ in words}] if words else []


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences, each with where it begins."""
    begin = 0
    for end in _SENTENCE_END.finditer(text):
        yield begin, text[begin : end.start()]
        begin = end.end()
    yield begin, text[begin:]
