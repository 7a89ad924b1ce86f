"""Where in a page's source its texts and images stand: found by their words, for the parser does not say."""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Sequence

# Each is linear: a piece of markup ends at the next "<" at the latest, and what never ends goes to the end of the page.
TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<raw>script|style)\b[^<>]*+>.*?(?:</(?P=raw)\b[^<>]*+>?|\Z)|</?[a-z!?][^<>]*+>?",
    re.DOTALL | re.IGNORECASE,
)
_UNSEEN = re.compile(r"<title\b[^<>]*+>.*?(?:</title\b|\Z)|" + TOKEN.pattern, TOKEN.flags)  # titles are in no tree
_PIECE = re.compile(r"(?:&#?\w{1,32};?|\w)+")
_GRAM = 3  # words that are looked for together
_TRIES = 6  # positions in a text to begin with, where its first words are not found


def text_positions(source: str, texts: Sequence[str]) -> list[int | None]:
    """The position of each text in the source, None where it is not found. `texts` are in document order.

    Long texts are found first, each after the one before it; one of a word or two must stand between its neighbours.
    """
    words, starts = _words(source)
    known = [[word.lower() for word in re.findall(r"\w+", text)] for text in texts]
    positions: list[int | None] = [None] * len(texts)  # by number of the word, for now
    _find_long(words, known, positions)
    _find_short(words, known, positions)
    return [None if position is None else starts[position] for position in positions]


def image_position(source: str, address: str, start: int) -> int | None:
    """The position of an image's address, as written in the page: the first after `start`, else the first."""
    for written in dict.fromkeys((address, html.escape(address, quote=False))):
        for position in (source.find(written, start), source.find(written)):
            if written and position >= 0:
                return position
    return None


def _words(source: str) -> tuple[list[str], list[int]]:
    """The words of the text between the markup, in lower case, and where each begins."""
    blank = _UNSEEN.sub(lambda found: " " * len(found[0]), source)
    words: list[str] = []
    starts: list[int] = []
    for piece in _PIECE.finditer(blank):
        text = html.unescape(piece[0]) if "&" in piece[0] else piece[0]
        for word in re.findall(r"\w+", text):
            words.append(word.lower())
            starts.append(piece.start())
    return words, starts


def _find_long(words: list[str], texts: Sequence[Sequence[str]], positions: list[int | None]) -> None:
    grams: dict[tuple[str, ...], list[int]] = {}
    for number in range(len(words) - _GRAM + 1):
        grams.setdefault(tuple(words[number : number + _GRAM]), []).append(number)
    at = 0
    for number, text in enumerate(texts):
        for first in range(min(len(text) - _GRAM + 1, _TRIES)):
            found = grams.get(tuple(text[first : first + _GRAM]), [])
            index = bisect_left(found, at + first)
            if index < len(found):
                positions[number] = found[index] - first
                at = found[index] - first + len(text)
                break


def _find_short(words: list[str], texts: Sequence[Sequence[str]], positions: list[int | None]) -> None:
    following, after = len(words), [0] * len(texts)
    for number in range(len(texts) - 1, -1, -1):
        after[number] = following
        following = following if (position := positions[number]) is None else position
    at = 0
    for number, text in enumerate(texts):
        position = positions[number]
        if position is None and 0 < len(text) < _GRAM:
            position = positions[number] = _first(words, text, at, after[number])
        if position is not None:
            at = max(at, position + len(text))


def _first(words: list[str], text: Sequence[str], start: int, end: int) -> int | None:
    try:
        return words.index(text[0], start, end)
    except ValueError:
        return None
