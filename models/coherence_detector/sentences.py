"""The sentences of a text, and what of each may tell which sentence comes next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

WORDS = 400  # of the beginning of a text that are read, as the other detectors do

# One character for one, so that places in the text stay what they are.
_MARKS = str.maketrans("“”‘’`—–…", "\"\"'''--.")
_TOKEN = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|\d+(?:[.,]\d+)*|[^\w\s]")
# A full stop after one capital, or after these titles, ends no sentence.
_END = re.compile(
    r"(?<!\b[A-Z]\.)(?<!\bMr\.)(?<!\bDr\.)(?<!\bMrs\.)(?<!\bSt\.)(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])"
)
_LINE = re.compile(r"[^\n]+")
_LONGEST = 6  # sentences are sorted by the powers of two of their words, up to this one


class Sentence(NamedTuple):
    """Words, numbers and marks as they are written, and where they stand in the text."""

    tokens: tuple[str, ...]
    begin: int
    end: int  # one after its last character
    begins_line: bool


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of the first `WORDS` words; a line ends a sentence. English: other letters are skipped."""
    found: list[Sentence] = []
    words = 0
    marked = text.translate(_MARKS)
    for line in _LINE.finditer(marked):
        for begin, end in _parts(marked, line.start(), line.end()):
            tokens = tuple(_TOKEN.findall(marked, begin, end))
            count = sum(map(is_word, tokens))
            if count:
                found.append(Sentence(tokens, begin, end, begin == line.start()))
            words += count
            if words >= WORDS:
                return found
    return found


def _parts(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the sentences of a line are."""
    for match in _END.finditer(text, begin, end):
        yield begin, match.end()
        begin = match.end()
    if begin < end:
        yield begin, end


def is_word(token: str) -> bool:
    """Whether a token is a word or a number."""
    return token[0].isalnum()


def traits_of(sentences: Sequence[Sentence]) -> list[list[str]]:
    """Of each sentence: its words, with what it begins and ends, its length, and whether it is within a quote."""
    quotes = 0
    found: list[list[str]] = []
    for sentence in sentences:
        quotes = 0 if sentence.begins_line else quotes
        before, quotes = quotes, quotes + sentence.tokens.count('"')
        found.append(_traits(sentence.tokens, before % 2, quotes % 2))
    return found


def _traits(tokens: Sequence[str], open_before: int, open_after: int) -> list[str]:
    lower = ["#" if token[0].isdigit() else token.lower() for token in tokens]
    words = [token for token in lower if token == "#" or is_word(token)]
    return [
        *dict.fromkeys(words),
        f"^{words[0]}",
        f"^{' '.join(words[:2])}",
        f"${lower[-1]}",
        "<" if is_word(tokens[0]) else f"<{lower[0]}",
        f"L{min(_LONGEST, len(words).bit_length())}",
        f'"{open_before}{open_after}',
    ]
