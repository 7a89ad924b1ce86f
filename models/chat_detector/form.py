"""The form in which a text is judged: its beginning, without layout, and with plain marks.

How a text was stored is no trace of its writer. Quotation marks are straight, white space is one blank, sentences that
were glued together are parted, and marks that were parted from their words are joined.
"""

from __future__ import annotations

import re

WORDS = 400  # of the beginning of a text that are read

_MARKS = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "`": "'", "—": " - ", "–": "-", "…": "..."})
_GLUED = re.compile(r"([.!?][\"']?)(?=[A-Z][a-z])")
_PARTED = re.compile(r" (?=[.,;:!?)]|n't\b|'(?:s|re|ve|ll|d|m)\b)")
_TOKEN = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*|[^\w\s]")


def form_of(text: str) -> str:
    """The first `WORDS` words of a text in this form."""
    marked = text.translate(_MARKS).replace("''", '"')
    joined = _PARTED.sub("", " ".join(marked.split(None, WORDS)[:WORDS]))
    return " ".join(_GLUED.sub(r"\1 ", joined).split())


def tokens_of(form: str) -> list[str]:
    """Words, numbers and marks of a text in this form, in lower case. English: other letters are skipped."""
    return _TOKEN.findall(form.lower())
