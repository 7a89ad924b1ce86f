"""A row as its file has it, before a layout looks at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.stages.rows.row_error import RowError

MAX_BYTES = 512 * 2**20  # of a row with its images: thirty of `fetch.max_bytes`, and its text

MayRead = Callable[[int], bool]  # whether the rows from this number on may be read: False where they end their workers


@dataclass(frozen=True, slots=True)
class RawRow:
    """The number of a row, from 0, in its file, and its values by column, or what is wrong with it."""

    number: int
    values: Mapping[str, Any] | RowError


def always(_number: int) -> bool:
    """Every row may be read."""
    return True
