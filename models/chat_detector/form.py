"""The form in which a text is judged: its beginning, without layout, and with plain marks.

How a text was stored is no trace of its writer. Quotation marks are straight, white space is one blank, sentences that
were glued together are parted, also by an escaped line break or what is left of one, and marks that were parted from
their words are joined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

WORDS = 400  # of the beginning of a text that are read
FEWEST_WORDS = 50  # of less there is hardly anything to tell

_MARKS = {"“": '"', "”": '"', "‘": "'", "’": "'", "`": "'", "—": " - ", "–": "-", "…": "..."}
_CAPITAL_AFTER_N = re.compile(r"n[A-Z]")  # without it nothing is escaped, which is told ten times as fast
_ESCAPED = re.compile(r"(?<=[.!?])\s*(?:(?:\\n)+|n+)(?=[A-Z])")
_GLUED = re.compile(r"([.!?][\"']?)(?=[A-Z][a-z])")
_PARTED = re.compile(r" (?=[.,;:!?)]|n't\b|'(?:s|re|ve|ll|d|m)\b)")
_TOKEN = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|\d+(?:[.,]\d+)*|[^\w\s]")


@lru_cache(maxsize=2)  # two heads of farm_score read the same text, one after the other
def form_of(text: str) -> str:
    """The first `WORDS` words of a text in this form."""
    begun = " ".join(text.split(None, WORDS)[:WORDS])
    for mark, plain in _MARKS.items():
        begun = begun.replace(mark, plain)  # most are not there, which a search tells sooner than `translate`
    marked = begun.replace("''", '"')
    if _CAPITAL_AFTER_N.search(marked):
        marked = _ESCAPED.sub(" ", marked)
    return " ".join(_GLUED.sub(r"\1 ", _PARTED.sub("", marked)).split())


@lru_cache(maxsize=2)
def tokens_of(form: str) -> tuple[str, ...]:
    """Words, numbers and marks of a text in this form. English: other letters are skipped."""
    return tuple(_TOKEN.findall(form))


def enough(tokens: Sequence[str]) -> bool:
    """Whether there are `FEWEST_WORDS` words among some tokens."""
    return sum(map(str.isalpha, [token[0] for token in tokens])) >= FEWEST_WORDS
