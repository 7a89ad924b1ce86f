"""How a text is written, whatever it is about: numbers by name, for the forest that decides.

Marks, words of grammar, endings, lengths of words and sentences, and how much is said again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt

MISSING = -1.0  # where there is too little text for a number; no number is below 0
_MARKS = ',.;:-()"!?'
# The 45 commonest words of the trusted texts that the shipped language model learned from, without "said".
_GRAMMAR = (
    "the of and to a in that is it i for he was on with as be at his you but have not by this from are had we they "
    "which has an will all or her one she their my were been there so"
).split()
_ENDINGS = ("ly", "ing", "ed", "tion", "ment", "s", "ity")  # codespell:ignore
_SHORTEST_WITH_ENDING = 5  # letters
_LONG_WORD = 9  # letters
_SHORT_SENTENCE, _LONG_SENTENCE = 8, 35  # tokens
_WINDOWS = (50, 100)  # words
_SAID_AGAIN = (2, 3)  # words in a row
_OPENINGS = ("the", "i", "it", "in", "this")
_FEW = 3  # sentences, up to which they have no spread

Numbers = Iterator[tuple[str, float]]


def style_of(tokens: Sequence[str]) -> dict[str, float]:
    """All numbers of a text, as shares and lengths in letters, tokens and words."""
    words = [token for token in tokens if token[0].isalpha()]
    lowered = [word.lower() for word in words]
    return dict(
        [
            *_of_tokens(tokens, len(words)),
            *_of_words(words, lowered),
            *_of_sentences(tokens),
            *_of_repetition(lowered),
        ]
    )


def _of_tokens(tokens: Sequence[str], words: int) -> Numbers:
    counts, count = Counter(tokens), max(1, len(tokens))
    for mark in _MARKS:
        yield f"mark_{mark}", counts[mark] / count
    yield "words", words / count
    yield "numerals", sum(token[0].isdigit() for token in tokens) / count


def _of_words(words: Sequence[str], lowered: Sequence[str]) -> Numbers:
    counts, count = Counter(lowered), max(1, len(words))
    for word in _GRAMMAR:
        yield f"word_{word}", counts[word] / count
    yield "grammar", sum(counts[word] for word in _GRAMMAR) / count
    yield "capitals", sum(word[0].isupper() for word in words) / count
    yield "all_capitals", sum(len(word) > 1 and word.isupper() for word in words) / count
    yield "contractions", sum("'" in word for word in words) / count
    for ending in _ENDINGS:
        found = sum(number for word, number in counts.items() if word.endswith(ending) and _may_end(word))
        yield f"ending_{ending}", found / count
    lengths = [len(word) for word in words]
    yield from _spread("letters", lengths)
    yield "long_words", sum(length >= _LONG_WORD for length in lengths) / count


def _of_sentences(tokens: Sequence[str]) -> Numbers:
    """Their lengths, and what they begin with."""
    ends = [0, *(place + 1 for place, token in enumerate(tokens) if token in {".", "!", "?"}), len(tokens)]
    sentences = [tokens[begin:end] for begin, end in pairwise(ends) if end - begin > _FEW]
    lengths, count = [len(one) for one in sentences], max(1, len(sentences))
    yield from _spread("sentence", lengths)
    steps = sum(abs(after - before) for before, after in pairwise(lengths))
    yield "sentence_to_next", steps / max(1, sum(lengths)) if len(lengths) > _FEW else MISSING
    yield "short_sentences", sum(length < _SHORT_SENTENCE for length in lengths) / count
    yield "long_sentences", sum(length > _LONG_SENTENCE for length in lengths) / count
    openings = Counter(one[0].lower() for one in sentences)
    yield "openings", len(openings) / count if len(sentences) > _FEW else MISSING
    yield "openings_of_grammar", sum(openings[word] for word in _GRAMMAR) / count
    for word in _OPENINGS:
        yield f"opening_{word}", openings[word] / count


def _of_repetition(lowered: Sequence[str]) -> Numbers:
    for window in _WINDOWS:
        begins = range(0, len(lowered) - window + 1, window // 2)
        distinct = sum(len(set(lowered[begin : begin + window])) for begin in begins)
        yield f"distinct_{window}", distinct / (window * len(begins)) if begins else MISSING
    for row in _SAID_AGAIN:
        rows = list(zip(*(lowered[begin:] for begin in range(row)), strict=False))
        yield f"again_{row}", 1 - len(set(rows)) / len(rows) if rows else MISSING


def _spread(name: str, lengths: Sequence[int]) -> Numbers:
    """Mean and standard deviation: a square root is the same on every machine, as are sums of whole numbers."""
    count, total = max(1, len(lengths)), sum(lengths)
    squares = sum(length * length for length in lengths)
    yield f"{name}_mean", total / count
    yield f"{name}_deviation", sqrt(max(0, count * squares - total * total)) / count


def _may_end(word: str) -> bool:
    return len(word) >= _SHORTEST_WITH_ENDING
