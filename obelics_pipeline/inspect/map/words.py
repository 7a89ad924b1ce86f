"""Which words documents have, and how often: the rows that a map is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.filters.text import Text

CHARACTERS = 10_000  # of a document that are looked at: its topic is known by then, and one long page costs no more
LONGEST_WORD = 40  # characters: what is longer is an address or a blob, and of no topic
FEWEST_DOCUMENTS = 3  # that have a word: below, it brings no two documents together that others do not
LARGEST_SHARE = 0.5  # of documents that have a word: above, it tells none apart
MOST_WORDS = 2**17  # of the vocabulary, those that most documents have

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Words:
    """How often each document has each word of the vocabulary: sparse rows, as scipy's CSR has them.

    The words of document i are `columns[starts[i]:starts[i + 1]]`, in rising order, each `counts` times.
    """

    vocabulary: Sequence[str]  # by column, in the order of the alphabet
    starts: Integers
    columns: NDArray[np.int32]
    counts: NDArray[np.float32]

    @property
    def documents(self) -> int:
        """How many rows there are."""
        return len(self.starts) - 1

    def in_documents(self) -> Integers:
        """How many documents have each word."""
        return np.bincount(self.columns, minlength=len(self.vocabulary))

    def take(self, rows: Integers) -> Words:
        """Some of the rows, in this order."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return Words(self.vocabulary, starts, self.columns[at], self.counts[at])


def count_words(texts: Iterable[str]) -> Words:
    """Count the words of each text, those of scripts without spaces as ICU cuts them.

    A word that is in too few or too many of the documents is left out; where that leaves none, as of very few
    documents, all are taken.
    """
    numbers: dict[str, int] = {}
    ids, counts, lengths = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)], []
    for text in texts:
        found = Counter(word for word in Text(text[:CHARACTERS], segment=True).words if len(word) <= LONGEST_WORD)
        known = [numbers.setdefault(word, len(numbers)) for word in found]
        ids.append(np.array(known, np.int32))
        counts.append(np.fromiter(found.values(), np.float32, len(known)))
        lengths.append(len(known))
    return _chosen(list(numbers), np.concatenate(ids), np.concatenate(counts), np.array(lengths, np.int64))


def _chosen(names: Sequence[str], ids: NDArray[np.int32], counts: NDArray[np.float32], lengths: Integers) -> Words:
    """The rows with the words of the vocabulary alone, which are numbered by the alphabet."""
    within = np.bincount(ids, minlength=len(names))
    fits = (within >= FEWEST_DOCUMENTS) & (within <= LARGEST_SHARE * np.count_nonzero(lengths))
    if not fits.any():
        fits = within > 0
    chosen = sorted(np.flatnonzero(fits).tolist(), key=lambda i: (-within[i], names[i]))[:MOST_WORDS]
    chosen.sort(key=names.__getitem__)
    column = np.full(len(names), -1, np.int32)
    column[chosen] = np.arange(len(chosen))
    row = np.repeat(np.arange(len(lengths)), lengths)
    keep = column[ids] >= 0
    row, columns, counts = row[keep], column[ids][keep], counts[keep]
    order = np.lexsort((columns, row))
    starts = np.searchsorted(row, np.arange(len(lengths) + 1))
    return Words([names[i] for i in chosen], starts, columns[order], counts[order])
