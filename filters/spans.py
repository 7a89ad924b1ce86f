"""Which characters of a text made its score: ranges (begin, end), rising and apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from obelics_pipeline.filters.characters import SPECIAL, SPECIAL_STRING
from obelics_pipeline.filters.segment import cut, is_unspaced
from obelics_pipeline.filters.text import Text

Span = tuple[int, int]

MOST = 2000  # ranges that a filter gives of one text, the first ones: nobody reads more

_TOKEN = re.compile(r"[^ \n\t]+")


def placed_words(text: Text) -> Iterator[tuple[str, Span]]:
    """The words of a text, as `Text.words` has them, each with where it stands."""
    lowered = text.text.lower()
    places = None if len(lowered) == len(text.text) else _places(text.text)
    segment = text.segment and is_unspaced(text.text)
    for found in _TOKEN.finditer(lowered):
        word, begin = found[0], found.start()
        if word[0] in SPECIAL or word[-1] in SPECIAL:
            bare = word.lstrip(SPECIAL_STRING)
            begin += len(word) - len(bare)
            word = bare.rstrip(SPECIAL_STRING)
        for part, offset in cut(word) if segment and is_unspaced(word) else [(word, 0)]:
            if part:
                first, last = begin + offset, begin + offset + len(part) - 1
                yield part, (first, last + 1) if places is None else (places[first], places[last] + 1)


def _places(text: str) -> list[int]:
    """Where each character of the lower-cased text stands in the text: one character, U+0130, becomes two."""
    return [place for place, character in enumerate(text) for _ in character.lower()]


def joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans that begin in rising order, those that touch or overlap as one."""
    last: Span | None = None
    for begin, end in spans:
        if last is not None and begin <= last[1]:
            last = last[0], max(last[1], end)
            continue
        if last is not None:
            yield last
        last = begin, end
    if last is not None:
        yield last


def capped(spans: Iterable[Span]) -> list[Span]:
    """The first `MOST` of them."""
    return list(islice(spans, MOST))
