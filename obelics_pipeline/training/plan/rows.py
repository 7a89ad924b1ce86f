"""Packed rows in the order of training, as arrays: what is taken from them, joined, and left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from obelics_pipeline.training.plan.spans import Flags, Integers, Spans, joined


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows, and the spans of all of them one after the other.

    `dataset` and `n_spans` are by row; `repeat` is by span: which pass over its document it belongs to, from 0.
    """

    dataset: Integers
    n_spans: Integers
    spans: Spans
    repeat: Integers

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def first_span(self) -> Integers:
        """Where the spans of each row begin."""
        out: Integers = np.cumsum(self.n_spans) - self.n_spans
        return out

    @property
    def row_of_span(self) -> Integers:
        """The row that each span stands in."""
        out: Integers = np.repeat(np.arange(len(self), dtype=np.int64), self.n_spans)
        return out

    def summed(self, by_span: Integers) -> Integers:
        """The sum of a number of each span, by row."""
        ends = np.append(0, np.cumsum(by_span))
        out: Integers = ends[self.first_span + self.n_spans] - ends[self.first_span]
        return out

    @property
    def n_tokens(self) -> Integers:
        """Tokens of each row, padding not counted."""
        return self.summed(self.spans.sizes)

    @property
    def n_images(self) -> Integers:
        """Images of each row; one that is carried counts in both."""
        return self.summed(self.spans.images)

    def take(self, which: Integers) -> Rows:
        """Some rows, in the order given; a row may be taken several times."""
        counts = self.n_spans[which]
        inside = np.arange(int(counts.sum()), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
        at = np.repeat(self.first_span[which], counts) + inside
        return Rows(self.dataset[which], counts, self.spans.take(at), self.repeat[at])

    def without(self, gone: Flags, first: int = 0) -> Rows:
        """Rows without the spans of some documents, `gone` by document, from the row `first` on.

        Rows that hold none of them are as they were, in the same order; others keep what else they hold, and end where
        nothing is left.
        """
        owner = self.row_of_span
        stays = ~gone[self.spans.document] | (owner < first)
        counts = np.bincount(owner[stays], minlength=len(self)).astype(np.int64)
        left = (counts > 0) | (self.n_spans == 0)
        kept = np.flatnonzero(stays)
        return Rows(self.dataset[left], counts[left], self.spans.take(kept), self.repeat[kept])

    def renumbered(self, documents: Integers, datasets: Integers) -> Rows:
        """The same rows of documents and data sets that have other numbers: those at the places of the old ones."""
        spans = replace(self.spans, document=documents[self.spans.document])
        return replace(self, dataset=datasets[self.dataset], spans=spans)

    def passes_counted(self) -> Rows:
        """The same rows, with the passes over a document counted on where a span comes again under the same number."""
        order = self.by_span()
        document, start = self.spans.document[order], self.spans.token_start[order]
        new = np.append(True, (np.diff(document) != 0) | (np.diff(start) != 0))[: len(order)]
        first = np.flatnonzero(new)
        group = np.cumsum(new) - 1
        inside = np.arange(len(order)) - first[group] if len(order) else order
        # the least numbers that rise within each group and are not below the old ones
        lift = (int(self.repeat.max(initial=0)) + len(order) + 1) * group
        numbers = np.maximum.accumulate(self.repeat[order] - inside + lift) - lift + inside
        repeat = np.empty_like(self.repeat)
        repeat[order] = numbers
        return replace(self, repeat=repeat)

    def by_span(self) -> Integers:
        """Places of the spans, those that are the same tokens together, in the order of training."""
        return np.lexsort((np.arange(len(self.spans)), self.spans.token_start, self.spans.document))


def rows_of(items: Sequence[Integers], spans: Spans, dataset: int) -> Rows:
    """Rows of a data set from the numbers of the spans in each, in their first pass."""
    at = np.concatenate(items) if items else np.zeros(0, np.int64)
    counts = np.array([len(item) for item in items], np.int64)
    return Rows(np.full(len(items), dataset, np.int64), counts, spans.take(at), np.zeros(len(at), np.int64))


def together(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other."""
    return Rows(
        np.concatenate([part.dataset for part in parts]),
        np.concatenate([part.n_spans for part in parts]),
        joined([part.spans for part in parts]),
        np.concatenate([part.repeat for part in parts]),
    )
