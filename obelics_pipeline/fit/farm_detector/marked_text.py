"""A text in pieces, each with what was done to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?]['\"”’)])\s+|(?<=[.!?])\s+|\n\n+")

# Words that carry grammar rather than meaning: spinners leave them alone, for they have no synonyms.
FUNCTION_WORDS = frozenset(
    """
    a about after all am an and any are as at be been before being both but by can could did do does down each few
    for from had has have having he her here him his how i if in into is it its just may me might more most must
    my no nor not now of off on once one only or other our out over own same shall she should so some such than
    that the their them then there these they this those to too two under up us very was we were what when where
    which while who whom why will with would you your
    """.split()
)


class Piece(NamedTuple):
    """A word, or what stands between words."""

    text: str
    replaced: bool = False  # not the writer's word, or not in its place
    junction: bool = False  # it does not follow what stands before it

    @property
    def is_word(self) -> bool:
        """Whether it is a word."""
        return self.text[:1].isalpha()


MarkedText = list[Piece]


def marked(text: str) -> MarkedText:
    """The pieces of an untouched text."""
    pieces = []
    end = 0
    for match in WORD.finditer(text):
        if match.start() > end:
            pieces.append(Piece(text[end : match.start()]))
        pieces.append(Piece(match.group()))
        end = match.end()
    if end < len(text):
        pieces.append(Piece(text[end:]))
    return pieces


def plain(pieces: Iterable[Piece]) -> str:
    """The text itself."""
    return "".join(piece.text for piece in pieces)


def after_a_junction(pieces: MarkedText) -> MarkedText:
    """The same, of which the first piece does not follow what stands before it."""
    return [pieces[0]._replace(junction=True), *pieces[1:]] if pieces else []


def sentences(text: str) -> list[str]:
    """Cut at the ends of sentences and paragraphs."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def count_words(text: str) -> int:
    """As white space tells them apart."""
    return len(text.split())


def in_paragraphs(parts: Sequence[MarkedText], random: Random) -> MarkedText:
    """Sentences one after the other, in paragraphs of one to six."""
    return list(_in_paragraphs(parts, random))


def _in_paragraphs(parts: Sequence[MarkedText], random: Random) -> Iterator[Piece]:
    left = random.randint(1, 6)
    for number, part in enumerate(parts):
        if number:
            left -= 1
            yield Piece(" " if left else "\n\n")
            left = left or random.randint(1, 6)
        yield from part


def cased_like(word: str, model: str) -> str:
    """A word with capitals where another one has them."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
