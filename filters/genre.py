"""What kind of text a document is, as far as its form tells: thresholds may differ by it."""

from __future__ import annotations

import re
from collections import Counter

from obelics_pipeline.core.config.filtering import Bounds, Genre, LanguageBounds
from obelics_pipeline.core.document import Document, kept_texts

_ROLE_GENRES: dict[str, Genre] = {"code": "code", "table": "table", "list": "list"}
_OF_CHARACTERS = 0.4  # share of a document's characters in code, tables or lists that makes it one of these
_SPEECH = re.compile(r"\s*(?:[\"“„«‹–—]|- |<[^<>\s]{1,30}> |[A-ZÀ-Þ][^.!?:\n]{0,30}: )")  # a quote, a dash, or a name
_OF_LINES = 0.6  # share of lines that begin as speech does; share of lines that are as short as verse
_FEWEST_LINES = 6
_VERSE_CHARACTERS, _VERSE_WORDS = 70, 3  # of a line of verse at most, and at least


def genre_of(document: Document) -> Genre:
    """The genre of the kept text: code, table and list by the roles of its nodes, dialogue and verse by its lines.

    Everything else is prose. Thresholds chosen by reading pages; which genre a text is of changes no score.
    """
    nodes = kept_texts(document.nodes)
    characters = Counter[Genre | None]()
    for node in nodes:
        characters[_ROLE_GENRES.get(node.role)] += len(node.text)
    genre = max(_ROLE_GENRES.values(), key=characters.__getitem__)
    if characters[genre] > 0 and characters[genre] >= _OF_CHARACTERS * characters.total():
        return genre
    return _by_lines([line for node in nodes if node.role == "paragraph" for line in node.text.split("\n")])


def bounds_of(thresholds: LanguageBounds, document: Document) -> Bounds | None:
    """The bounds of a score that apply to a document, by its genre and language; None where none do."""
    return thresholds.bounds_for(document.language, genre_of(document) if thresholds.genres else None)


def _by_lines(lines: list[str]) -> Genre:
    if len(lines) < _FEWEST_LINES:
        return "prose"
    if sum(_SPEECH.match(line) is not None for line in lines) >= _OF_LINES * len(lines):
        return "dialogue"
    return "verse" if sum(map(_is_verse, lines)) >= _OF_LINES * len(lines) else "prose"


def _is_verse(line: str) -> bool:
    return len(line) <= _VERSE_CHARACTERS and len(line.split()) >= _VERSE_WORDS
