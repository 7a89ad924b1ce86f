"""A map: points, cells and their names, by document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Label:
    """The name of a cell, at the document that is nearest to its middle."""

    cell: int
    x: float
    y: float
    words: tuple[str, ...]  # the most its own first; none where it has no words of its own
    documents: int


@dataclass(frozen=True)
class Projected:
    """A map: arrays by document. A document without words has NaN as its place, and -1 as its cell."""

    points: NDArray[np.float32]  # x and y, in no unit; the middle of the map is 0
    cells: NDArray[np.int32]
    labels: Sequence[Label]
