"""A layer of the network as the compiled part takes it: four inputs of a column next to each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_FOUR = 4  # inputs that one instruction multiplies and adds up
_LANES = 16  # columns that it does so for
_OFFSET = 128  # what makes an input unsigned, as that instruction wants it


class PackedLayer(NamedTuple):
    """Weights, shape (inputs / 4, columns, 4), padded with zeros, and biases, shape (2, columns).

    The second row of biases is for inputs that are `_OFFSET` higher. `taps` rows are seen, `apart` from one to the
    next; `size` columns are not padding.
    """

    weights: NDArray[np.int8]
    biases: NDArray[np.int32]
    taps: int
    apart: int
    size: int

    @classmethod
    def of(cls, weights: NDArray[np.int8], bias: NDArray[np.int32], taps: int, apart: int) -> PackedLayer:
        """Of weights of shape (inputs, outputs), and a bias for each output."""
        inputs, size = weights.shape
        padded = np.zeros((-(-inputs // _FOUR) * _FOUR, -(-size // _LANES) * _LANES), np.int8)
        padded[:inputs, :size] = weights
        biases = np.zeros((2, padded.shape[1]), np.int32)
        biases[:, :size] = bias
        biases[1] -= _OFFSET * padded.sum(axis=0, dtype=np.int32)
        packed = padded.reshape(-1, _FOUR, padded.shape[1]).transpose(0, 2, 1)
        return cls(np.ascontiguousarray(packed), biases, taps, apart, size)
