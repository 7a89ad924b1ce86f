"""Rows of a Parquet file, one in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.storage import Location, open_parquet
from obelics_pipeline.stages.rows.files.raw_row import MAX_BYTES, MayRead, RawRow
from obelics_pipeline.stages.rows.row_error import DAMAGED_ROWS, NOT_UTF8, TOO_LARGE, WORKER_DIED, RowError

MOST_ROWS = 64  # of a batch that Arrow decodes at a time
BATCH_BYTES = 32 * 2**20  # or as many rows as take so many bytes by the footer, one at least


def parquet_rows(where: Location, start: int, end: int, columns: Sequence[str], may_read: MayRead) -> Iterator[RawRow]:
    """Rows [start, end) with those of `columns` that the file has.

    A group of rows that cannot be read costs its rows. Raises OSError where the file cannot be read at all.
    """
    with open_parquet(where) as source:
        named = [name for name in columns if name in source.schema_arrow.names]
        first = 0
        for group in range(source.num_row_groups):
            rows = source.metadata.row_group(group).num_rows
            low, high = max(start - first, 0), min(end - first, rows)
            if low < high:
                if may_read(first + low):
                    yield from _rows_of_group(source, group, first, low, high, named, isinstance(where, Path))
                else:
                    yield from _lost(first + low, first + high, WORKER_DIED)
            first += rows


def _rows_of_group(
    source: pq.ParquetFile, group: int, first: int, low: int, high: int, columns: Sequence[str], local: bool
) -> Iterator[RawRow]:
    about = source.metadata.row_group(group)
    size = max(1, min(MOST_ROWS, BATCH_BYTES * about.num_rows // max(1, about.total_byte_size)))
    at = 0
    try:
        for batch in source.iter_batches(size, row_groups=[group], columns=list(columns)):
            for i in range(max(low - at, 0), min(high - at, len(batch))):
                yield RawRow(first + at + i, _values(batch.slice(i, 1)))
            at += len(batch)
            if at >= high:
                return
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and not local:
            raise
    yield from _lost(first + max(at, low), first + high, DAMAGED_ROWS)


def _values(row: pa.RecordBatch) -> Mapping[str, Any] | RowError:
    if row.nbytes > MAX_BYTES:
        return RowError(TOO_LARGE, f"{row.nbytes:,} bytes; {MAX_BYTES:,} are the most")
    try:
        values: Mapping[str, Any] = row.to_pylist()[0]
    except UnicodeDecodeError as error:
        return RowError(NOT_UTF8, f"byte {error.start} of a string")
    return values


def _lost(start: int, end: int, reason: str) -> Iterator[RawRow]:
    return (RawRow(number, RowError(reason, "")) for number in range(start, end))
