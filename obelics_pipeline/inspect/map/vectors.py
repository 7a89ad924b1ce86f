"""Documents as short dense vectors: TF-IDF, and of it the directions in which they differ most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from obelics_pipeline.inspect.map.words import Words

DIMENSIONS = 50  # as for word vectors by latent semantic analysis: topics are told apart, and spelling is not
_POWER_ITERATIONS = 4  # of the randomized SVD (Halko, Martinsson, Tropp 2011), as scikit-learn has it

Vectors = NDArray[np.float32]


def to_vectors(words: Words) -> Vectors:
    """A vector of length 1 for each document, of DIMENSIONS; a document without words has zeros, as have dimensions
    that fewer documents or words do not need.

    A word counts 1 + log(times), times log((1 + documents) / (1 + those that have it)) + 1. BLAS must have one thread,
    or the last bits depend on how many there are.
    """
    rows = _tf_idf(words)
    n = min(DIMENSIONS, *rows.shape)
    vectors = np.zeros((words.documents, DIMENSIONS), np.float32)
    if n:
        left, values, _ = randomized_svd(rows, n, n_iter=_POWER_ITERATIONS, random_state=0)
        vectors[:, :n] = left * values
    return of_length_one(vectors)


def _tf_idf(words: Words) -> sparse.csr_matrix:
    rare = np.log((1 + words.documents) / (1 + words.in_documents())) + 1
    values = (1 + np.log(words.counts)) * rare[words.columns].astype(np.float32)
    row = np.repeat(np.arange(words.documents), np.diff(words.starts))
    lengths = np.sqrt(np.bincount(row, values.astype(np.float64) ** 2, words.documents))
    values = (values / lengths[row]).astype(np.float32)
    shape = (words.documents, len(words.vocabulary))
    return sparse.csr_matrix((values, words.columns, words.starts), shape)


def of_length_one(vectors: Vectors) -> Vectors:
    """The same directions; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return found
