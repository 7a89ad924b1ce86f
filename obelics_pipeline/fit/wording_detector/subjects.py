"""Which words are of one subject: directions of words that stand in the same texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIRECTIONS = 12
_GRAMMAR = 150  # numbers of words below carry grammar, not meaning
_LENGTH = 100  # of a direction, in whole numbers
_STEPS = 6  # of the iteration that finds the directions


def subjects_of(rows: Sequence[NDArray[np.int64]], is_word: NDArray[np.bool_]) -> NDArray[np.int8]:
    """A direction for each number, zero for words of grammar and marks. Shape (numbers, `DIRECTIONS`).

    The largest eigenvectors of the positive mutual information of words that stand in one text (Levy and Goldberg,
    NIPS 2014), each weighed by the root of its value, found by subspace iteration.
    """
    words = np.flatnonzero(is_word & (np.arange(len(is_word)) >= _GRAMMAR))
    found = np.zeros((len(is_word), DIRECTIONS), np.int8)
    if len(words) <= DIRECTIONS:
        return found
    place = np.full(len(is_word), -1)
    place[words] = np.arange(len(words))
    there = np.zeros((len(rows), len(words)), np.float32)
    for number, row in enumerate(rows):
        at = place[row]
        there[number, at[at >= 0]] = 1
    together = (there.T @ there).astype(np.float64)
    alone = np.maximum(1, there.sum(axis=0, dtype=np.float64))
    information = np.log(np.maximum(1, (together + 0.5) * len(rows) / np.outer(alone, alone)))
    information[together < 2] = 0
    np.fill_diagonal(information, 0)
    basis = np.random.default_rng(5).standard_normal((len(words), DIRECTIONS + 1))
    for _ in range(_STEPS):
        basis, _ = np.linalg.qr(information @ basis)
    values, turned = np.linalg.eigh(basis.T @ information @ basis)
    vectors = (basis @ turned) * np.sqrt(np.maximum(0, values))
    vectors = vectors[:, ::-1][:, 1:]  # the first is how usual a word is
    vectors = vectors - (alone / alone.sum()) @ vectors  # two words of no subject in common are not alike
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    found[words] = np.rint(vectors / np.maximum(length, 1e-9) * _LENGTH)
    return found
