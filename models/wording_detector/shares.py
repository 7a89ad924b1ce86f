"""Shares and means of what is counted in a text. All are of whole numbers, so that every machine finds the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.wording_detector.vocabulary import Flags

try:
    from obelics_pipeline.models.wording_detector import _parts
except ImportError:
    COMPILED = False
    _parts = None  # type: ignore[assignment]
else:
    COMPILED = True
compiled = _parts  # it is called where COMPILED

MISSING = -1.0  # where there is too little text for a number
FEWEST = 3  # words or pairs that a number is made of

Numbers = Iterator[tuple[str, float]]  # by name, for the forest that decides
Part = tuple[int, int]  # a sum, and of how many


def of_parts(names: Sequence[str], parts: Sequence[Part]) -> Numbers:
    """The shares and means that some sums make; `MISSING` of fewer than three."""
    for name, (total, count) in zip(names, parts, strict=True):
        yield name, total / count if count >= FEWEST else MISSING


def sum_of(values: Flags | NDArray[np.integer]) -> Part:
    """That of whole numbers, or of flags as 0 and 1."""
    return int(values.sum()), len(values)
