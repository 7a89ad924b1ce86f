"""The nearest others of each vector, exactly: every pair is looked at, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

ROWS = 500  # of a block: 200 MB of similarities beside 100,000 vectors
WIDTH = 64  # columns of which only the best is looked at first

Advance = Callable[[int, int], None]  # so much of so much is done


def nearest(vectors: NDArray[np.float32], k: int, threads: int, advance: Advance) -> NDArray[np.int64]:
    """The rows of the `k` vectors with the largest scalar product with each, itself left out; in no order.

    `k` is less than the number of vectors. Whatever the number of threads, a block has one, so the result is the same
    as long as BLAS has one too.
    """
    n = len(vectors)
    groups = -(-n // WIDTH)
    starts = range(0, n, ROWS)
    found = np.empty((n, k), np.int64)
    with ThreadPoolExecutor(threads) as pool:
        blocks = pool.map(lambda start: _of_block(vectors, start, k, groups), starts)
        for start, block in zip(starts, blocks, strict=True):
            found[start : start + ROWS] = block
            advance(min(start + ROWS, n), n)
    return found


def _of_block(vectors: NDArray[np.float32], start: int, k: int, groups: int) -> NDArray[np.int64]:
    """Of each row the best are in the k groups with the best bests: only these are sorted out."""
    n = len(vectors)
    rows = vectors[start : start + ROWS]
    near = np.full((len(rows), WIDTH * groups), -np.inf, np.float32)
    np.matmul(rows, vectors.T, out=near[:, :n])
    near[np.arange(len(rows)), np.arange(start, start + len(rows))] = -np.inf
    if groups <= k:
        return _largest(near, k)
    by_group = near.reshape(len(rows), WIDTH, groups)  # column j is in group j % groups
    best = _largest(by_group.max(axis=1), k)
    columns = (best[:, None, :] + groups * np.arange(WIDTH)[None, :, None]).reshape(len(rows), -1)
    within = _largest(np.take_along_axis(near, columns, axis=1), k)
    return np.take_along_axis(columns, within, axis=1)


def _largest(values: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """The places of the k largest of each row."""
    if k >= values.shape[1]:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape)
    return np.argpartition(values, values.shape[1] - k, axis=1)[:, values.shape[1] - k :]
