"""What words people put next to each other, counted in trusted texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.chat_detector.form import WORDS, form_of, tokens_of
from obelics_pipeline.models.wording_detector.habits import AROUND, CHOICES, UNIT, Habits

_MOST = 127  # of a log ratio, in 1 / `UNIT`
_PRIOR = 4.0  # times that a word is taken to have been seen with choices as they are everywhere


def count_habits(texts: Sequence[str], words: int, paired: int) -> Habits:
    """Those of texts: of the `words` most frequent words and marks, and the pairs of the `paired` most frequent."""
    read = [[token.lower() for token in tokens_of(form_of(part))] for text in texts for part in _parts(text)]
    count = Counter(token for tokens in read for token in tokens if not token[0].isdigit())
    known = tuple(sorted(count, key=lambda word: (-count[word], word))[:words])
    empty = np.zeros((len(AROUND), len(known) + 2, len(CHOICES)), np.int8)
    size = min(paired, len(known) + 2)
    bits = np.zeros((size, -(-size // 8)), np.uint8)
    plain = np.zeros(len(known) + 2, np.int16)
    numbered = Habits(known, plain, 0, bits, size, empty, np.zeros(len(CHOICES), np.int16))
    rows = [numbered.read(tokens) for tokens in read if tokens]
    often = np.bincount(np.concatenate(rows), minlength=len(plain))
    return Habits(
        known,
        _logs(often),
        round(log(max(1, int(often.sum()))) * UNIT),
        _pairs(rows, size),
        size,
        *_choices(rows, numbered),
    )


def _parts(text: str) -> Iterator[str]:
    """A text in parts of as many words as are read of one."""
    words = text.split()
    return (" ".join(words[begin : begin + WORDS]) for begin in range(0, len(words), WORDS))


def _logs(counts: NDArray[np.int64]) -> NDArray[np.int16]:
    return np.array([round(log(max(1, int(count))) * UNIT) for count in counts], np.int16)


def _pairs(rows: Sequence[NDArray[np.int64]], size: int) -> NDArray[np.uint8]:
    seen = np.zeros((size, size), bool)
    for row in rows:
        left, right = row[:-1], row[1:]
        both = (left < size) & (right < size)
        seen[left[both], right[both]] = True
    return np.packbits(seen, axis=1)


def _choices(rows: Sequence[NDArray[np.int64]], numbered: Habits) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
    """What each word says for each choice, by its place, as log ratios; and the logs of how often choices are."""
    known = len(numbered.often)
    counts = np.zeros((len(AROUND), known, len(CHOICES)))
    total = np.zeros(len(CHOICES), np.int64)
    for row in rows:
        choice = numbered.choice_of[row]
        at = np.flatnonzero(choice >= 0)
        np.add.at(total, choice[at], 1)
        for table, (place, _) in zip(counts, AROUND, strict=True):
            inside = at[(at + place >= 0) & (at + place < len(row))]
            np.add.at(table, (row[inside + place], choice[inside]), 1)
    usual = (total + 1) / (total + 1).sum()
    shares = (counts + _PRIOR * usual) / (counts.sum(axis=2, keepdims=True) + _PRIOR)
    ratios = np.clip(np.rint(np.log(shares / usual) * UNIT), -_MOST, _MOST)
    return ratios.astype(np.int8), _logs(total + 1)
