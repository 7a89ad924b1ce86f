"""Regions of a map with names: k-means in the plane, and the words that are most a cell's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from obelics_pipeline.filters.segment import is_unspaced
from obelics_pipeline.filters.word_lists import stop_words
from obelics_pipeline.inspect.map.projected import Label
from obelics_pipeline.inspect.map.words import Words

MOST_WORDS = 5  # of a name
SHORTEST_WORD = 3  # letters, but for scripts without spaces

Cells = NDArray[np.int32]
Points = NDArray[np.float32]


def cut(points: Points) -> Cells:
    """The cell of each point, from 0: some 0.4 times the square root of the number of points, 126 of 100,000.

    BLAS and OpenMP must have one thread, or the last bits depend on how many there are.
    """
    distinct = len(np.unique(points, axis=0))
    if distinct == 0:
        return np.zeros(0, np.int32)
    wanted = min(distinct, max(1, round(0.4 * len(points) ** 0.5)))
    return np.asarray(KMeans(wanted, n_init=1, random_state=0).fit(points.astype(np.float64)).labels_, np.int32)


def label(words: Words, languages: Sequence[str | None], points: Points, cells: Cells) -> Iterator[Label]:
    """The names of the cells, in their order. All arguments are by document, and each document is in a cell.

    A word weighs its share of the cell's documents, times the log of how many times that is its share of all (a cell's
    part of the relative entropy; as class-based TF-IDF (Grootendorst 2022), but a word that is everywhere weighs
    nothing). Documents are counted, not occurrences, so that no document names a cell alone. Stop words of the cell's
    most frequent language name nothing.
    """
    overall = words.in_documents() / max(words.documents, 1)
    order = np.argsort(cells, kind="stable")
    ends = np.cumsum(np.bincount(cells))
    for cell, within in enumerate(np.split(order, ends[:-1]) if len(cells) else ()):
        columns, counts = np.unique(words.take(within).columns, return_counts=True)
        if len(within) > 1:
            columns, counts = columns[counts > 1], counts[counts > 1]
        share = counts / len(within)
        best = columns[np.argsort(-share * np.log(share / overall[columns]), kind="stable")].tolist()
        stop = stop_words(_most_frequent(languages[i] for i in within.tolist())) or frozenset()
        of_cell = points[within]
        middle = within[np.argmin(((of_cell - of_cell.mean(axis=0)) ** 2).sum(axis=1))]
        x, y = points[middle].tolist()
        yield Label(cell, x, y, _name((words.vocabulary[i] for i in best), stop), len(within))


def _most_frequent(languages: Iterable[str | None]) -> str:
    counts = Counter(language or "" for language in languages)
    return min(counts, key=lambda language: (-counts[language], language))


def _name(words: Iterable[str], stop: frozenset[str]) -> tuple[str, ...]:
    """The first words that say something; one that begins like another of them says nothing new."""
    name: list[str] = []
    for word in words:
        if word in stop or (len(word) < SHORTEST_WORD and not is_unspaced(word)):
            continue
        if any(word.startswith(other[:5]) for other in name if len(other) >= 5):
            continue
        name.append(word)
        if len(name) == MOST_WORDS:
            break
    return tuple(name)
