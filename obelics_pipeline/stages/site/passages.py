"""Long sentences of running text, and their skeletons, as keys of 64 bits: what pages can share without being copies.

A skeleton is a sentence with each run of content words, names and numbers masked as one; its function words and marks
stay. Headings, lists, tables, quotes and short lines have no keys: frames of honest sites are made of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.filters.segment import is_unspaced
from obelics_pipeline.filters.word_lists import stop_words

MIN_WORDS = 8  # of a long sentence
MIN_CHARACTERS = 20  # of a long sentence of a script without spaces
WINDOW = 10  # masked words and marks of a shingle
MIN_FUNCTION_WORDS = 4  # of a shingle: a list of names and commas says nothing
SAMPLED = 4  # of so many shingles one is kept, by its hash
MOST_REMEMBERED = 200_000  # tokens of a language, in each worker
_MASK, _END = "_", 0  # in place of words; of a sentence

_SENTENCE = re.compile(r"[^.!?…。！？\n]+[.!?…。！？]*")
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_FACTORS = np.array([pow(0x9E3779B97F4A7C15, power, 2**64) for power in range(WINDOW)], np.uint64)

Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Passages:
    """The keys of a text, each once and sorted. `skeletons`: None without a list of stop words."""

    sentences: Keys
    skeletons: Keys | None


def has_keys(role: str | None, reason: str | None) -> bool:
    """Whether a text node of this role is a kept paragraph of running text."""
    return role == "paragraph" and reason is None


def passages_of(paragraphs: Sequence[str], language: str | None) -> Passages:
    """The keys of a document's paragraphs of running text."""
    found = list(long_sentences(paragraphs))
    sentences = np.unique(np.array([sentence_key(words) for _, words in found], np.uint64))
    function_words = stop_words(language) if language else None
    if function_words is None:
        return Passages(sentences, None)
    return Passages(sentences, np.unique(_shingles([words for _, words in found], function_words)))


def long_sentences(paragraphs: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The sentences that are long enough to say where they come from, and the words and marks of each."""
    for paragraph in paragraphs:
        for sentence in _SENTENCE.findall(paragraph):
            tokens = _TOKEN.findall(sentence)
            if len(_words(tokens)) >= MIN_WORDS or _is_long(sentence):
                yield sentence.strip(), tokens


def _words(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token[0].isalnum()]


def _is_long(sentence: str) -> bool:
    return len(sentence) >= MIN_CHARACTERS and is_unspaced(sentence)


def sentence_key(tokens: Sequence[str]) -> int:
    """64 bits of a sentence's words; case, marks and white space do not count."""
    return _key(" ".join(_words(tokens)).lower())


def skeleton_keys(tokens: Sequence[str], language: str) -> Keys:
    """The keys of one sentence's skeleton, in its order. Raises ValueError for a language without stop words."""
    return _shingles([tokens], _function_words(language))


def skeleton(tokens: Sequence[str], language: str) -> str:
    """The skeleton of a sentence, for people. Raises ValueError for a language without stop words."""
    return " ".join(token for token, _ in _masked(tokens, _function_words(language)))


def _function_words(language: str) -> frozenset[str]:
    found = stop_words(language)
    if found is None:
        raise ValueError(f"no stop words are known of the language {language}")
    return found


def _masked(tokens: Sequence[str], function_words: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """What is left of a sentence, and whether it is a function word."""
    masked = False
    for token in tokens:
        word = token.lower().replace("’", "'")
        is_function = word in function_words
        if is_function or not word[0].isalnum():
            yield word, is_function
            masked = False
        elif not masked:
            yield _MASK, False
            masked = True


def _shingles(sentences: Sequence[Sequence[str]], function_words: frozenset[str]) -> Keys:
    codes = _codes(function_words)
    ids = np.array([code for sentence in sentences for code in (*map(codes.__getitem__, sentence), _END)], np.uint64)
    is_mask = ids == codes.mask
    ids = ids[~(is_mask & np.roll(is_mask, 1))]  # the last is an end, so nothing is rolled over
    if len(ids) < WINDOW:
        return np.zeros(0, np.uint64)
    windows = np.lib.stride_tricks.sliding_window_view(ids, WINDOW)
    counts = (windows != _END).all(axis=1) & ((windows & np.uint64(1)).sum(axis=1) >= MIN_FUNCTION_WORDS)
    keys: Keys = _mixed((windows[counts] * _FACTORS).sum(axis=1, dtype=np.uint64))
    sampled: Keys = keys[keys % np.uint64(SAMPLED) == 0]
    return sampled


class _Codes(dict[str, int]):
    """A number for each token: odd of a function word, even of a mark, and the same one of all other words."""

    def __init__(self, function_words: frozenset[str]) -> None:
        super().__init__()
        self._function_words = function_words
        self.mask = np.uint64(_code(_MASK, 0))

    def __missing__(self, token: str) -> int:
        [(left, is_function)] = _masked([token], self._function_words)
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        self[token] = _code(left, int(is_function))
        return self[token]


@cache  # a list of each language
def _codes(function_words: frozenset[str]) -> _Codes:
    return _Codes(function_words)


def _code(token: str, last_bit: int) -> int:
    return _key(token) & ~1 | last_bit


def _mixed(keys: Keys) -> Keys:
    """Evenly spread bits (the finaliser of SplitMix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _key(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
