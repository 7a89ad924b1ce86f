"""The form in which a text is judged: its beginning, without layout, and with plain marks.

How a text was stored is no trace of its writer. Quotation marks are straight, white space is one blank, sentences that
were glued together are parted, also by an escaped line break or what is left of one, and marks that were parted from
their words are joined.
"""

from __future__ import annotations

import re

WORDS = 400  # of the beginning of a text that are read

_MARKS = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "`": "'", "—": " - ", "–": "-", "…": "..."})
_ESCAPED = re.compile(r"(?<=[.!?])\s*(?:(?:\\n)+|n+)(?=[A-Z])")
_GLUED = re.compile(r"([.!?][\"']?)(?=[A-Z][a-z])")
_PARTED = re.compile(r" (?=[.,;:!?)]|n't\b|'(?:s|re|ve|ll|d|m)\b)")
_TOKEN = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|\d+(?:[.,]\d+)*|[^\w\s]")


def form_of(text: str) -> str:
    """The first `WORDS` words of a text in this form."""
    begun = " ".join(text.split(None, WORDS)[:WORDS])
    marked = _ESCAPED.sub(" ", begun.translate(_MARKS).replace("''", '"'))
    return " ".join(_GLUED.sub(r"\1 ", _PARTED.sub("", marked)).split())


def tokens_of(form: str) -> list[str]:
    """Words, numbers and marks of a text in this form. English: other letters are skipped."""
    return _TOKEN.findall(form)
