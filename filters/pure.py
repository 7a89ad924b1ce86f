"""The hot statistics in Python: what `_statistics.c` must return, and what runs where no C compiler was at hand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.filters.characters import SPECIAL, SPECIAL_STRING
from obelics_pipeline.filters.options import MAX_N

_NUMPY_PAYS = 400  # units; below it a Counter is quicker


def lowered_words(text: str) -> list[str]:
    """Words of a text, lower-cased, by the reference's rule.

    Split at space, newline and tab only; special characters stripped from both ends; what is then empty is no word.
    """
    found = []
    for token in text.lower().replace("\n", " ").replace("\t", " ").split(" "):
        if token and (token[0] in SPECIAL or token[-1] in SPECIAL):
            token = token.strip(SPECIAL_STRING)
        if token:
            found.append(token)
    return found


def count_characters(characters: bytes, text: str) -> int:
    """How many characters of the text are in a set, which is given as by `filters.characters.bitmap`."""
    members, table = _members(characters)
    if len(text) < _NUMPY_PAYS:
        return sum(map(members.__contains__, text))
    points = code_points(text)
    return int(table[points[points < len(table)]].sum())


@lru_cache(maxsize=32)
def _members(characters: bytes) -> tuple[frozenset[str], NDArray[np.bool_]]:
    """A set of characters as a set and as a table by code point."""
    table = np.unpackbits(np.frombuffer(characters, np.uint8), bitorder="little").astype(bool)
    return frozenset(map(chr, np.flatnonzero(table).tolist())), table


def count_members(words: list[str], members: frozenset[str]) -> int:
    """How many of the words are in the set."""
    return sum(map(members.__contains__, words))


def count_punctuation(text: str, marks: str) -> tuple[int, int]:
    """(punctuation marks, tokens): a token is a run of word characters and apostrophes, or one mark."""
    pattern, single = _tokens(marks)
    tokens = pattern.findall(text)
    return sum(map(single.__contains__, tokens)), len(tokens)


@lru_cache(maxsize=32)
def _tokens(marks: str) -> tuple[re.Pattern[str], frozenset[str]]:
    """The pattern of a token, and the marks; a mark that is a word character or an apostrophe is part of a run."""
    pattern = re.compile(r"[\w']+" + (f"|[{re.escape(marks)}]" if marks else ""))
    return pattern, frozenset(mark for mark in marks if not re.match(r"[\w']", mark))


def character_repetition(text: str, n: int) -> float:
    """Share of the most frequent character n-grams, as many of them as the root of the number of distinct ones."""
    if not 1 <= n <= MAX_N:
        raise ValueError(f"n must be 1 to {MAX_N}")
    total = len(text) - n + 1
    if total < 1:
        return 0.0
    if len(text) < _NUMPY_PAYS:
        frequencies = list(Counter([text[i : i + n] for i in range(total)]).values())
    else:
        frequencies = _frequencies(code_points(text), n)
    repeated = sorted((f for f in frequencies if f > 1), reverse=True)
    return sum(repeated[: math.isqrt(len(frequencies))]) / total


def word_repetition(words: list[str], n: int) -> float:
    """Share of the word n-grams that occur more than once."""
    if not 1 <= n <= MAX_N:
        raise ValueError(f"n must be 1 to {MAX_N}")
    total = len(words) - n + 1
    if total < 1:
        return 0.0
    if len(words) < _NUMPY_PAYS:
        frequencies = list(Counter(zip(*(words[i:] for i in range(n)), strict=False)).values())
    else:
        frequencies = _frequencies(numbered(words), n)
    return sum(f for f in frequencies if f > 1) / total


def code_points(text: str) -> NDArray[np.uint32]:
    """Each character as a number."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def numbered(words: Sequence[Hashable]) -> NDArray[np.uint32]:
    """Each word as a number, equal for equal words."""
    numbers: dict[Hashable, int] = {}
    fresh = count()
    return np.fromiter((numbers[w] if w in numbers else numbers.setdefault(w, next(fresh)) for w in words), np.uint32)


def _frequencies(units: NDArray[np.uint32], n: int) -> list[int]:
    """How often each distinct n-gram occurs, in no particular order. Exact: equal hashes are compared unit by unit."""
    total = len(units) - n + 1
    hashes = np.zeros(total, np.uint64)
    for i in range(n):
        hashes = (hashes ^ units[i : i + total]) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    if not _same_units(units, n, order, starts):
        return list(Counter(units[i : i + n].tobytes() for i in range(total)).values())
    frequencies: list[int] = np.diff(np.append(starts, total)).tolist()
    return frequencies


def _same_units(units: NDArray[np.uint32], n: int, order: NDArray[np.intp], starts: NDArray[np.intp]) -> bool:
    """Whether all n-grams of one hash are the same n-gram."""
    follows = np.ones(len(order), bool)
    follows[starts] = False
    later = np.flatnonzero(follows)
    left, right = order[later - 1], order[later]
    return all(np.array_equal(units[left + i], units[right + i]) for i in range(n))
