"""How much of a picture has one colour: nearly all of a blank one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIDE = 256  # pixels of the longer side
NEAR = 16  # levels of 256 in which a pixel may differ in red, green or blue: grain, and what JPEG adds to a flat ground


def one_colour(rgb: NDArray[np.uint8]) -> float:
    """The share of the pixels that are near the commonest colour, 0 to 1.

    The commonest of 4,096 colours is where the search begins; the mean of what is near it is the colour.
    """
    red, green, blue = channels = rgb.reshape(-1, 3).T.astype(np.int16)
    bins = (red >> 4 << 8) | (green >> 4 << 4) | (blue >> 4)
    near = bins == np.bincount(bins).argmax()
    for _ in range(2):
        colour = channels[:, near].sum(1) // near.sum()
        near = (np.abs(channels - colour.astype(np.int16)[:, None]) <= NEAR).all(0)
        if not near.any():  # the mean of a bin may lie where no pixel does, never twice NEAR away from all of them
            return 0.0
    return float(near.mean())
