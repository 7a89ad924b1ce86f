"""From words to a map: vectors, points, cells and their names. Needs what the extra `tune` brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from obelics_pipeline.inspect.map.cells import cut, label
from obelics_pipeline.inspect.map.layout import lay_out
from obelics_pipeline.inspect.map.projected import Projected
from obelics_pipeline.inspect.map.vectors import to_vectors
from obelics_pipeline.inspect.map.words import Words

Advance = Callable[[str, int, int], None]  # what is done, how much of it, of how much


def project(words: Words, languages: Sequence[str | None], threads: int, advance: Advance) -> Projected:
    """Lay documents out by their words. `languages` are the codes of the documents, in the same order.

    The same documents in the same order give the same map, whatever the number of threads.
    """
    has_words = np.flatnonzero(np.diff(words.starts))
    laid = words.take(has_words)
    with threadpool_limits(1):
        advance("vectors", 0, 1)
        vectors = to_vectors(laid)
        advance("vectors", 1, 1)
        found = lay_out(vectors, threads, lambda *at: advance("neighbours", *at), lambda *at: advance("layout", *at))
        found_cells = cut(found)
        labels = list(label(laid, [languages[i] for i in has_words.tolist()], found, found_cells))
    points = np.full((words.documents, 2), np.nan, np.float32)
    cells = np.full(words.documents, -1, np.int32)
    points[has_words], cells[has_words] = found, found_cells
    return Projected(points, cells, labels)
