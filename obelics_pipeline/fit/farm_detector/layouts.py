"""Ways in which a text stands on a page: honest and generated text come in all of them, so none gives a text away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece

Layout = Callable[[MarkedText, Random], MarkedText]

WIDTHS = (50, 90)  # characters of a line of mail or of a source file
VERSE = (5, 9)  # words of a line
_BULLETS = ("- ", "* ", "• ", "{}. ")
_SPACE = re.compile(r"\s+")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])(['\"”’)]?)\s+$")
_UNITS = ("", "", "", " %", " km", " kg", " ms", " GB", " pts", "m", " USD", " €", " h")
_SEPARATORS = (" | ", "\t", "  ", ": ", ", ")
_ROWS = (2, 12)  # of a table
_TABLES = 0.4  # share of the ends of paragraphs at which one stands


def as_it_is(text: MarkedText, random: Random) -> MarkedText:
    """Nothing is changed."""
    return text


def hard_wrapped(text: MarkedText, random: Random) -> MarkedText:
    """Lines of a fixed width, as in mail and source files."""
    width = random.randint(*WIDTHS)
    made: MarkedText = []
    column = 0
    for piece in text:
        if not piece.is_word and column > width and " " in piece.text:
            piece = piece._replace(text=piece.text.replace(" ", "\n", 1))
        newline = piece.text.rfind("\n")
        column = column + len(piece.text) if newline < 0 else len(piece.text) - newline - 1
        made.append(piece)
    return made


def verse(text: MarkedText, random: Random) -> MarkedText:
    """A few words to the line, some lines with a capital."""
    length, capitals = random.randint(*VERSE), random.choice((0.0, 0.6, 1.0))
    left, begins = length, False
    made: MarkedText = []
    for piece in text:
        if piece.is_word:
            if begins and random.random() < capitals:
                piece = piece._replace(text=piece.text[:1].upper() + piece.text[1:])
            left, begins = left - 1, False
        elif "\n" in piece.text or (left <= 0 and " " in piece.text):
            if "\n" not in piece.text:
                piece = piece._replace(text=piece.text.replace(" ", "\n", 1))
            left, begins = length + random.randint(-2, 2), True
        made.append(piece)
    return made


def bullets(text: MarkedText, random: Random) -> MarkedText:
    """A list of its sentences."""
    bullet, number = random.choice(_BULLETS), 1
    made = [Piece(bullet.format(number))]
    for piece in text:
        if not piece.is_word and (_SENTENCE_ENDS.search(piece.text) or "\n" in piece.text):
            number += 1
            piece = piece._replace(text=_SPACE.sub("", piece.text) + "\n" + bullet.format(number))
        made.append(piece)
    return made


def without_capitals(text: MarkedText, random: Random) -> MarkedText:
    """As in chats."""
    return [piece._replace(text=piece.text.lower()) for piece in text]


def with_tables(text: MarkedText, random: Random) -> MarkedText:
    """Rows of figures between paragraphs, each named by words of the text: results, prices, measurements."""
    words = [piece.text for piece in text if piece.is_word]
    made: MarkedText = []
    for piece in text:
        made.append(piece)
        if piece.text.endswith("\n\n") and random.random() < _TABLES:
            made += _table(words, random)
    return [*made, Piece("\n\n"), *_table(words, random)] if words else made


def _table(words: list[str], random: Random) -> Iterator[Piece]:
    separator, columns, unit = random.choice(_SEPARATORS), random.randint(1, 4), random.choice(_UNITS)
    largest, decimals = random.choice((10, 100, 1000, 100_000)), random.choice((0, 0, 1, 2))
    for _ in range(random.randint(*_ROWS)):
        begin, name = random.randrange(len(words)), random.randint(1, 3)
        for place, word in enumerate(words[begin : begin + name]):
            yield from (Piece(" "), Piece(word)) if place else (Piece(word),)
        figures = (f"{random.uniform(0, largest):,.{decimals}f}{unit}" for _ in range(columns))
        yield Piece(separator + separator.join(figures) + "\n")
    yield Piece("\n")
