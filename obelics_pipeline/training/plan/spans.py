"""Spans of documents: how a document that fills more than a row is cut, and how long each piece is in a row."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Lengths:
    """What is known of documents before they are cut: tokens of each, and where its `<image>` marks stand.

    `marks[first_mark[i]:first_mark[i + 1]]` are the places of document i's marks among its tokens, rising.
    """

    n_tokens: Integers
    first_mark: Integers  # one more than there are documents
    marks: npt.NDArray[np.int32]

    @property
    def n_images(self) -> Integers:
        """Images of each document."""
        return np.diff(self.first_mark)


@dataclass(frozen=True, eq=False)
class Spans:
    """Tokens [token_start, token_stop) of documents, with the images [image_start, image_stop) that they look at.

    `carried`: the first tokens look at an image whose mark is in the span before.
    """

    document: Integers
    token_start: Integers
    token_stop: Integers
    image_start: Integers
    image_stop: Integers
    carried: Flags

    def __len__(self) -> int:
        return len(self.document)

    @property
    def sizes(self) -> Integers:
        """Tokens that each takes in a row: one more, that leads it, where it is not a document's first."""
        return self.token_stop - self.token_start + (self.token_start > 0)

    @property
    def images(self) -> Integers:
        """Images that each takes in a row."""
        return self.image_stop - self.image_start

    def take(self, which: Integers) -> Spans:
        """Some of them, in the order given."""
        return Spans(*(getattr(self, field.name)[which] for field in fields(self)))


def joined(parts: list[Spans]) -> Spans:
    """Spans one after the other."""
    return Spans(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Spans)))


def cut(lengths: Lengths, documents: Integers, tokens: int, images: int) -> Spans:
    """The spans of these documents, in their order: whole where a row of so many tokens and images holds one.

    A longer one is cut before an `<image>` mark where that leaves no span under half full, else where the row is full;
    nothing is left out. All documents are cut at once, a span of each at a time.
    """
    n_tokens, n_images = lengths.n_tokens[documents], lengths.n_images[documents]
    long = (n_tokens > tokens) | (n_images > images)
    zeros = np.zeros(int((~long).sum()), np.int64)
    short = Spans(documents[~long], zeros, n_tokens[~long], zeros, n_images[~long], zeros.astype(np.bool_))
    pieces, places = [short], [np.flatnonzero(~long)]
    at = np.flatnonzero(long)
    marks = _Marks(lengths, documents[at])
    which, start = np.arange(len(at)), np.zeros(len(at), np.int64)
    while len(which):
        piece = _next(marks, which, start, tokens, images)
        pieces.append(Spans(documents[at[which]], *piece))
        places.append(at[which])
        stop = piece[1]
        left = stop < marks.n_tokens[which]
        which, start = which[left], stop[left]
    spans, place = joined(pieces), np.concatenate(places)
    return spans.take(np.lexsort((spans.token_start, place)))


def _next(
    marks: _Marks, which: Integers, start: Integers, tokens: int, images: int
) -> tuple[Integers, Integers, Integers, Integers, Flags]:
    """The span of each document that begins at `start`: its tokens, its images, and whether one is carried."""
    before = marks.before(which, start)
    carried = (start > 0) & (before > 0) & (marks.place(which, before) != start)
    stop = np.minimum(marks.n_tokens[which], start + tokens - (start > 0))
    stop = np.minimum(stop, marks.place(which, before + images - carried))  # the first image that has no room
    last = marks.place(which, marks.before(which, stop + 1) - 1)  # the last mark at or before where the row is full
    inside = (stop < marks.n_tokens[which]) & (last >= start + tokens // 2) & (last <= stop)
    stop = np.where(inside, last, stop)
    return start, stop, before - carried, marks.before(which, stop), carried


class _Marks:
    """The marks of some documents, to be looked for in all of them at once: their tokens stand in one long line."""

    def __init__(self, lengths: Lengths, documents: Integers) -> None:
        self.n_tokens = lengths.n_tokens[documents]
        self._base = np.cumsum(self.n_tokens + 2) - self.n_tokens - 2  # of each document in the line
        counts = lengths.n_images[documents]
        self._first = np.cumsum(counts) - counts
        self._count = counts
        owner = np.repeat(np.arange(len(documents)), counts)
        at = lengths.first_mark[documents][owner] + np.arange(len(owner)) - self._first[owner]
        self._places = np.append(lengths.marks[at].astype(np.int64), 0)
        self._line = self._places[:-1] + self._base[owner]

    def before(self, which: Integers, token: Integers) -> Integers:
        """How many marks of each document stand before a token."""
        return np.searchsorted(self._line, self._base[which] + token, "left").astype(np.int64) - self._first[which]

    def place(self, which: Integers, number: Integers) -> Integers:
        """Where a mark of each document stands; behind its tokens where it has none of that number, -1 below 0."""
        inside = (number >= 0) & (number < self._count[which])
        found = self._places[np.where(inside, self._first[which] + number, -1)]
        return np.where(inside, found, np.where(number < 0, -1, self.n_tokens[which] + 1))
