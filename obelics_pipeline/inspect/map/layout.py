"""Vectors as points in a plane, neighbours near each other: t-SNE, as openTSNE has it."""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray
from openTSNE import TSNE
from openTSNE.affinity import PrecomputedAffinities
from scipy import sparse

from obelics_pipeline.inspect.map.neighbours import Advance, nearest
from obelics_pipeline.inspect.map.vectors import of_length_one

NEIGHBOURS = 15  # of each point that pull at it
EARLY, LATE = 150, 400  # turns: first with the pull made twelve times as strong, then EXAGGERATION times
# Of the pull: above 1, what is alike stands closer, the map is smaller, and each turn costs less (docs/decisions/0008).
EXAGGERATION = 1.5
_NOISE = 1e-3  # of a vector's length: the same texts must not have the same neighbours, or stay one point
_BEGINNING = 1e-4  # standard deviation of the first coordinates, as t-SNE wants them
_EVERY = 25  # turns between two words of progress

Points = NDArray[np.float32]


def lay_out(vectors: NDArray[np.float32], threads: int, searched: Advance, turned: Advance) -> Points:
    """A point for each vector, the middle of all at 0. Vectors are of length 1.

    `searched` counts the vectors whose neighbours are found, `turned` the turns that are done. `threads` are for the
    search: a turn has one, as openTSNE's wait for each other by spinning. The same vectors in the same order give the
    same points, whatever the number of threads.
    """
    n = len(vectors)
    if n < 2:
        return np.zeros((n, 2), np.float32)
    random = np.random.default_rng(0)
    noisy = of_length_one(vectors + random.normal(0, _NOISE, vectors.shape).astype(np.float32))
    near = nearest(noisy, min(NEIGHBOURS, n - 1), threads, searched)
    axes = noisy[:, 1:3] - noisy[:, 1:3].mean(axis=0)  # the first direction is what all documents share
    first = axes.astype(np.float64) * (_BEGINNING / axes[:, 0].std())

    turns = count(_EVERY, _EVERY)  # openTSNE begins to count anew after the early ones

    def on_step(_turn: int, _error: float, _points: object) -> None:
        turned(next(turns), EARLY + LATE)

    tsne = TSNE(
        early_exaggeration_iter=EARLY, n_iter=LATE, exaggeration=EXAGGERATION, n_jobs=1, random_state=0,
        callbacks=on_step, callbacks_every_iters=_EVERY,
    )  # fmt: skip
    points = np.asarray(tsne.fit(affinities=PrecomputedAffinities(_pull(near)), initialization=first))
    return np.asarray(points - points.mean(axis=0), np.float32)


def _pull(near: NDArray[np.int64]) -> sparse.csr_matrix:
    """How strongly each two points pull at each other: alike for all neighbours, of one or of both."""
    n, k = near.shape
    of = sparse.csr_matrix((np.ones(n * k), np.sort(near, axis=1).ravel(), np.arange(0, n * k + 1, k)), (n, n))
    return (of + of.T).tocsr()
