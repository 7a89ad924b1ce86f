"""Tokens of a text, as the detector of generated text reads them: a word's number, its ending, and its looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from threading import Lock
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.word_index import Index

_TOKEN = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*|\d+(?:[.,]\d+)*|\n\n+|\n|[^\w\s]|_")

try:
    from obelics_pipeline.models.farm_detector import _tokens as compiled
except ImportError:
    COMPILED = False
else:
    COMPILED = True

# Numbers of words that are in no vocabulary.
UNKNOWN, NUMBER, LINE, PARAGRAPH = 1, 2, 3, 4  # 0 is of no token at all
FIRST_WORD = 8  # the number of the most frequent word; those between are free

# Looks. A word that is known by its stem only has its looks + BY_STEM, one that is not known at all + NOT_KNOWN.
BREAK, DIGITS, MARK, LOWER, CAPITALIZED, UPPER, MIXED = range(1, 8)
BY_STEM, NOT_KNOWN = 4, 8
LOOKS = 16

ENDINGS = 2048  # rows for the last three letters of a word, by their CRC-32; the first 16 are for the length of numbers
_ENDING_LETTERS = 3
_FIRST_ENDING = 16
_LONGEST_NUMBER = 8  # characters; longer ones look like it
_LONGEST_ENDING = (
    4  # letters that are taken from a word's end to find one that is known: -ness is the longest usual one
)
_SHORTEST_STEM = 3  # letters
_LETTERS_OF_A_TOKEN = 6  # with the blank before it: English has 5
_REMEMBERED = 200_000  # tokens of one process whose numbers are kept: what an English crawl uses all day


def find_tokens(text: str) -> list[str]:
    """Words (with inner apostrophes and hyphens), numbers, single marks, and the ends of lines and paragraphs."""
    return _TOKEN.findall(text)


def first_tokens(text: str, count: int) -> list[str]:
    """The first so many of `find_tokens`, without reading all of a long text."""
    end = count * _LETTERS_OF_A_TOKEN
    while True:
        found = _TOKEN.findall(text, 0, end)
        if len(found) > count or end >= len(text):  # the last of them may be cut
            return found[:count]
        end *= 2


def find_spans(text: str) -> list[tuple[int, int]]:
    """Where each of `find_tokens` begins and ends."""
    return [found.span() for found in _TOKEN.finditer(text)]


def is_word(token: str) -> bool:
    """Whether a token is a word."""
    return token[0].isalpha()


def lowered(word: str) -> str:
    """The form of a word that vocabularies have."""
    return word.lower().replace("’", "'")


class Read(NamedTuple):
    """Tokens as numbers, a row or a value for each."""

    rows: NDArray[np.int32]  # word, ending and looks: shape (tokens, 3)
    forms: NDArray[np.int32]  # the same for words that are the same when lower-cased, in one text
    letters: NDArray[np.int32]  # of a word; else 0
    capitals: NDArray[np.int32]  # 1 where it begins with one


class Vocabulary:
    """The words that a detector knows, the most frequent first."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        self._numbers = {word: number for number, word in enumerate(self.words, FIRST_WORD)}
        self._seen = _Seen(self._row)

    def __len__(self) -> int:
        """How many numbers of words there are."""
        return FIRST_WORD + len(self.words)

    def number(self, word: str) -> int:
        """The number of a lower-cased word or a mark."""
        return self._numbers.get(word, UNKNOWN)

    def read_first(self, text: str, count: int) -> Read:
        """What is known of so many first tokens of a text."""
        return self.read_compiled(text, count) if COMPILED else self.read(first_tokens(text, count))

    def read_compiled(self, text: str, count: int) -> Read:
        """The same, by the compiled part, where `COMPILED`."""
        rows, *others = compiled.read(text, count, self._index, self._row_and_word)
        return Read(np.frombuffer(rows, np.int32).reshape(-1, 3), *(np.frombuffer(one, np.int32) for one in others))

    @cached_property
    def _index(self) -> Index:
        return Index.of(self.words)

    def _row_and_word(self, token: str) -> tuple[int, int, int, str]:
        return *self._row(token), lowered(token)

    def read(self, tokens: Sequence[str]) -> Read:
        """What is known of each token."""
        if len(self._seen) > _REMEMBERED:
            self._seen = _Seen(self._row)
        seen = self._seen
        places = np.fromiter(map(seen.__getitem__, tokens), np.int64, len(tokens))
        found = seen.rows.take(places, axis=0)  # after the places are known: it grows as they are found
        return Read(np.ascontiguousarray(found[:, :3]), *np.ascontiguousarray(found[:, 3:].T))

    def _row(self, token: str) -> tuple[int, int, int]:
        if token[0] == "\n":
            return (LINE if len(token) == 1 else PARAGRAPH), 0, BREAK
        if token[0].isdigit():
            return NUMBER, min(len(token), _LONGEST_NUMBER), DIGITS
        if not is_word(token):
            return self.number(token), 0, MARK
        word = lowered(token)
        ending = _FIRST_ENDING + crc32(word[-_ENDING_LETTERS:].encode("utf-8", "replace")) % (ENDINGS - _FIRST_ENDING)
        looks = _looks(token)
        if (number := self.number(word)) != UNKNOWN:
            return number, ending, looks
        if (number := self._number_of_stem(word)) != UNKNOWN:
            return number, ending, looks + BY_STEM
        return UNKNOWN, ending, looks + NOT_KNOWN

    def _number_of_stem(self, word: str) -> int:
        """The known word that is left without its last few letters: `send` of `sended`, looks aside."""
        for letters in range(1, min(_LONGEST_ENDING, len(word) - _SHORTEST_STEM) + 1):
            if (number := self.number(word[:-letters])) != UNKNOWN:
                return number
        return UNKNOWN


class _Seen(dict[str, int]):
    """The place in `rows` of each token that this process has seen."""

    def __init__(self, row: Callable[[str], tuple[int, int, int]]) -> None:
        self._row = row
        self._forms: dict[str, int] = {}
        self._lock = Lock()
        self.rows = np.zeros((1024, 6), np.int32)

    def __missing__(self, token: str) -> int:
        with self._lock:
            place = self.get(token)
            if place is None:
                place = len(self)
                if place == len(self.rows):
                    self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
                word = lowered(token) if is_word(token) else ""
                form = self._forms.setdefault(word, len(self._forms))
                self.rows[place] = *self._row(token), form, len(word), token[0].isupper()
                self[token] = place
        return place


def _looks(word: str) -> int:
    if word == word.lower():
        return LOWER
    if word[0].isupper() and word[1:] == word[1:].lower():
        return CAPITALIZED
    return UPPER if word.isupper() else MIXED
