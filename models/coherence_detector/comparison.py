"""Each sentence of a text compared with each: whole numbers; compiled where that was built, else with NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obelics_pipeline.models.coherence_detector.vectors import Vectors, Whole

try:
    from obelics_pipeline.models.coherence_detector import _comparison as compiled
except ImportError:
    COMPILED = False
else:
    COMPILED = True

NEAR = (1, -1, 2, -2, 3, -3)  # sentences from one to the other


class Comparison(NamedTuple):
    """Of `Vectors.follow`, and of the same centred (`centred_of`); `pairs` and what is after it, of `Vectors.alike`."""

    near: Whole  # sums of the diagonals `NEAR` of the centred matrix
    steps: Whole  # its first diagonal
    nexts: Whole  # the same, not centred
    totals: Whole  # sums of all but the main diagonal: not centred, centred, and of the squares of the latter
    pairs: Whole  # each two sentences once
    lags: Whole  # the sum of each diagonal, from the main one on
    rows: Whole  # of each sentence, the mean with all others


def compare(vectors: Vectors, traits: tuple[Whole, Whole]) -> Comparison:
    """Of at least two sentences, whose traits are as `Vectors.read` gives them."""
    return compare_compiled(vectors, traits) if COMPILED else compare_in_numpy(vectors, traits)


def compare_compiled(vectors: Vectors, traits: tuple[Whole, Whole]) -> Comparison:
    """The same, by the compiled part, where `COMPILED`. Raises ValueError for traits that the vectors do not have."""
    found = compiled.compare(vectors.before, vectors.after, vectors.subject, vectors.before.shape[1], *traits)
    return Comparison(*(np.frombuffer(values, np.int64) for values in found))


def compare_in_numpy(vectors: Vectors, traits: tuple[Whole, Whole]) -> Comparison:
    """The same, by NumPy: what both must return."""
    follow, alike = vectors.follow(traits), vectors.alike(traits)
    centred, count = centred_of(follow), len(follow)
    apart = ~np.eye(count, dtype=bool)
    return Comparison(
        np.array([np.diagonal(centred, step).sum() for step in NEAR]),
        np.diagonal(centred, 1),
        np.diagonal(follow, 1),
        np.array([follow[apart].sum(), centred[apart].sum(), (centred[apart] * centred[apart]).sum()]),
        alike[np.triu_indices(count, 1)],
        np.array([np.diagonal(alike, lag).sum() for lag in range(count)]),
        (alike.sum(axis=1) - np.diagonal(alike)) // (count - 1),
    )


def centred_of(matrix: Whole) -> Whole:
    """Without what a sentence has with all others, before them and after them; the diagonal says nothing."""
    others = len(matrix) - 1
    apart = matrix - np.diag(np.diagonal(matrix))
    rows, columns = apart.sum(axis=1) // others, apart.sum(axis=0) // others
    found: Whole = matrix - rows[:, None] - columns[None, :] + int(apart.sum()) // (others * len(matrix))
    return found
