"""How sharp a picture is, where it is sharpest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Pixels of the longer side. Blur is counted in pixels, so pictures are compared at one size; a smaller one is not
# enlarged, which would blur it.
SIDE = 512
TILE = 32  # pixels
AMONG_THE_SHARPEST = 0.9  # this share of the tiles is less sharp, or as sharp


def sharpness(grey: NDArray[np.uint8]) -> float | None:
    """The variance of the Laplacian in grey levels squared, of the tile that `AMONG_THE_SHARPEST` of all do not exceed.

    The variance of the Laplacian is a measure of focus by Pech-Pacheco and others (Diatom autofocusing in brightfield
    microscopy, ICPR 2000), here with four neighbours. Of a whole picture it says as much of its background as of its
    focus: a thing on a white or blurred ground is not blurred. None below three pixels a side.
    """
    if min(grey.shape) < 3:
        return None
    levels = grey.astype(np.int16)
    laplacian = 4 * levels[1:-1, 1:-1] - levels[:-2, 1:-1] - levels[2:, 1:-1] - levels[1:-1, :-2] - levels[1:-1, 2:]
    down, across = (_edges(length) for length in laplacian.shape)
    pixels = np.outer(np.diff(down, append=laplacian.shape[0]), np.diff(across, append=laplacian.shape[1]))
    sums, squares = (_of_tiles(values, down, across) for values in (laplacian, laplacian.astype(np.int32) ** 2))
    variances = np.sort((squares / pixels - (sums / pixels) ** 2).ravel())
    return float(variances[int(np.ceil(AMONG_THE_SHARPEST * len(variances))) - 1])


def _edges(length: int) -> NDArray[np.int64]:
    """Where tiles begin along a side: all as long as each other, to a pixel."""
    count = max(1, length // TILE)
    return np.arange(count) * length // count


def _of_tiles(values: NDArray[np.int32], down: NDArray[np.int64], across: NDArray[np.int64]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.add.reduceat(np.add.reduceat(values, down, 0, np.int64), across, 1)
    return found
