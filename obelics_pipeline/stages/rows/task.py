"""A span of rows of one file, as the units of a run have it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RowsTask:
    """Rows [start, end) of a Parquet file at `path`; of another file all its rows. `layout` is a name of `LAYOUTS`."""

    path: str
    layout: str
    start: int
    end: int
