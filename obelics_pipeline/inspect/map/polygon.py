"""Which points are inside of what a person drew on the map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FEWEST = 3  # corners of a polygon


def inside(points: NDArray[np.float32], corners: Sequence[tuple[float, float]]) -> NDArray[np.bool_]:
    """Whether each point is in the polygon, by the even-odd rule: where it crosses itself, what it goes round twice is
    outside.

    The last corner is joined to the first. `points` have shape (points, 2); a NaN is outside. Of two polygons that
    share an edge, a point on it is in one alone. Raises ValueError for fewer corners than FEWEST.
    """
    if len(corners) < FEWEST:
        raise ValueError(f"a polygon has {FEWEST} corners or more, got {len(corners)}")
    x, y = points[:, 0].astype(np.float64), points[:, 1].astype(np.float64)
    found = np.zeros(len(points), bool)
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if y0 == y1:
            continue
        (left, low), (right, high) = sorted(((x0, y0), (x1, y1)), key=lambda corner: corner[1])  # the same both ways
        slope = (right - left) / (high - low)
        found ^= (low <= y) & (y < high) & (x < left + (y - low) * slope)  # the line to its right meets the edge
    return found & ~np.isnan(x) & ~np.isnan(y)
