"""Pointer tables: Parquet files that say where in which WARC file a page is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.read.remote import file_system, is_remote

COLUMNS = ("url", "warc_filename", "warc_record_offset", "warc_record_length")
BATCH_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Pointer:
    """One row: where a record is. Any value may be missing or wrong."""

    url: str | None
    warc_filename: str | None
    offset: int | None
    length: int | None


def count_rows(path: str, config: ReadingConfig) -> int:
    """Rows of a pointer table. Raises UserError if it is not Parquet, or a column is missing or of another type."""
    try:
        with _opened(path, config) as table:
            _check(path, table.schema_arrow)
            return int(table.metadata.num_rows)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path}: cannot be read as Parquet: {str(error).splitlines()[0]}") from None


def read_rows(path: str, start: int, end: int, config: ReadingConfig) -> Iterator[Pointer]:
    """Rows [start, end) in the order of the table."""
    with _opened(path, config) as table:
        first = 0
        groups: list[int] = []
        skip = 0
        for group in range(table.metadata.num_row_groups):
            rows = table.metadata.row_group(group).num_rows
            if first < end and first + rows > start:
                skip = skip if groups else start - first
                groups.append(group)
            first += rows
        left = end - start
        for batch in table.iter_batches(batch_size=BATCH_ROWS, row_groups=groups, columns=list(COLUMNS)):
            part = batch.slice(skip, left) if skip < batch.num_rows else None
            skip = max(skip - batch.num_rows, 0)
            if part is None:
                continue
            left -= part.num_rows
            for row in part.to_pylist():
                yield Pointer(*(row[name] for name in COLUMNS))
            if left <= 0:
                return


@contextmanager
def _opened(path: str, config: ReadingConfig) -> Iterator[pq.ParquetFile]:
    if not is_remote(path):
        with pq.ParquetFile(path) as table:
            yield table
        return
    files, inner = file_system(path, config)
    with files.open(inner, "rb") as file, pq.ParquetFile(file) as table:
        yield table


def _check(path: str, schema: pa.Schema) -> None:
    missing = [name for name in COLUMNS if name not in schema.names]
    if missing:
        raise UserError(
            f"{path}: a pointer table needs the columns {', '.join(COLUMNS)}; missing: {', '.join(missing)}"
        )
    for name in COLUMNS:
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if name in COLUMNS[2:]:
            fits = pa.types.is_integer(kind)
        else:
            fits = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if not fits:
            wanted = "integer" if name in COLUMNS[2:] else "string"
            raise UserError(f"{path}: column {name} is {schema.field(name).type}, must be {wanted}")
