"""Trusted texts, counted: which words they have, which pairs of them, and what stands beside words of grammar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.chat_detector.form import WORDS, form_of
from obelics_pipeline.models.wording_detector.habits import AROUND, UNIT
from obelics_pipeline.models.wording_detector.reading import read_tokens
from obelics_pipeline.models.wording_detector.vocabulary import Tokens, Vocabulary, Whole

_MOST = 127  # of a log ratio, in 1 / `UNIT`
_PRIOR = 4.0  # times that a word is taken to have been seen with choices as they are everywhere


@dataclass(frozen=True)
class Counted:
    """The most frequent words and marks of some texts, and the tokens of each part of these."""

    vocabulary: Vocabulary
    parts: Sequence[Tokens]

    @classmethod
    def of(cls, texts: Sequence[str], tokens_of: Callable[[str], Sequence[str]], words: int) -> Counted:
        """Texts in the form that is judged, of which so many words and marks are known."""
        written = [tokens for text in texts for part in _parts(text) if (tokens := tokens_of(form_of(part)))]
        count = Counter(token.lower() for tokens in written for token in tokens if not token[0].isdigit())
        vocabulary = Vocabulary(tuple(sorted(count, key=lambda word: (-count[word], word))[:words]))
        return cls(vocabulary, [read_tokens(tokens, vocabulary) for tokens in written])

    @cached_property
    def rows(self) -> list[Whole]:
        """The numbers of the tokens of each part."""
        return [part.number for part in self.parts]

    def tables(self, paired: int, choices: Sequence[str]) -> dict[str, Any]:
        """What all habits have, by name: of the pairs of so many words, and of these choices."""
        often = np.bincount(np.concatenate(self.rows), minlength=len(self.vocabulary))
        size = min(paired, len(self.vocabulary))
        said, prior = self._choices(choices)
        return {
            "vocabulary": self.vocabulary,
            "often": _logs(often),
            "total": round(log(max(1, int(often.sum()))) * UNIT),
            "pairs": self._pairs(size),
            "paired": size,
            "choices": said,
            "prior": prior,
        }

    def _pairs(self, size: int) -> NDArray[np.uint8]:
        seen = np.zeros((size, size), bool)
        for row in self.rows:
            left, right = row[:-1], row[1:]
            both = (left < size) & (right < size)
            seen[left[both], right[both]] = True
        return np.packbits(seen, axis=1)

    def _choices(self, words: Sequence[str]) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
        """What each word says for each choice, by its place, as log ratios; and the logs of how often choices are."""
        choice_of = self.vocabulary.places_among(words)
        counts = np.zeros((len(AROUND), len(self.vocabulary), len(words)))
        total = np.zeros(len(words), np.int64)
        for row in self.rows:
            choice = choice_of[row]
            at = np.flatnonzero(choice >= 0)
            np.add.at(total, choice[at], 1)
            for table, (place, _) in zip(counts, AROUND, strict=True):
                inside = at[(at + place >= 0) & (at + place < len(row))]
                np.add.at(table, (row[inside + place], choice[inside]), 1)
        usual = (total + 1) / (total + 1).sum()
        shares = (counts + _PRIOR * usual) / (counts.sum(axis=2, keepdims=True) + _PRIOR)
        return log_ratios(shares / usual), _logs(total + 1)


def log_ratios(ratios: NDArray[np.float64]) -> NDArray[np.int8]:
    """Their logs in 1 / `UNIT`, to a bound."""
    return np.asarray(np.clip(np.rint(np.log(ratios) * UNIT), -_MOST, _MOST), np.int8)


def _parts(text: str) -> Iterator[str]:
    """A text in parts of as many words as are read of one."""
    words = text.split()
    return (" ".join(words[begin : begin + WORDS]) for begin in range(0, len(words), WORDS))


def _logs(counts: NDArray[np.int64]) -> NDArray[np.int16]:
    return np.array([round(log(max(1, int(count))) * UNIT) for count in counts], np.int16)
