"""The index of a run: one row per document, where it stands, where it came from, and what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.shards.record import Record, scores
from obelics_pipeline.core.shards.tar import Placed
from obelics_pipeline.core.storage import Location, open_parquet, read_tables

COLUMNS = [
    pa.field("shard", pa.string(), nullable=False),  # name within the folder `shards`
    pa.field("offset", pa.int64(), nullable=False),  # bytes; [offset, offset + length) is a tar of its own
    pa.field("length", pa.int64(), nullable=False),
    pa.field("doc_id", pa.string(), nullable=False),
    pa.field("url", pa.string(), nullable=False),
    pa.field("warc_filename", pa.string(), nullable=False),
    pa.field("warc_record_offset", pa.int64(), nullable=False),
    pa.field("warc_record_length", pa.int64(), nullable=False),
    pa.field("content_sha256", pa.string(), nullable=False),  # see record.content_sha256
    pa.field("n_texts", pa.int32(), nullable=False),
    pa.field("n_images", pa.int32(), nullable=False),
    pa.field("n_files", pa.int32(), nullable=False),  # image files in the tar; fewer than n_images if not fetched
    pa.field("language", pa.string()),
    pa.field("page_type", pa.string()),  # kind of the page; null where no main content was found
]
NAMES = tuple(field.name for field in COLUMNS)
ADDED = frozenset({"page_type"})  # by a later version: an index that was written before lacks them
ROWS_PER_GROUP = 8192


def index_schema(score_names: Sequence[str], fixed: Sequence[pa.Field] = COLUMNS) -> pa.Schema:
    """The columns of an index: the fixed ones, then one nullable float per score, in the order given.

    Raises ValueError for a score that has the name of a column.
    """
    taken = [name for i, name in enumerate(score_names) if name in NAMES or name in score_names[:i]]
    if taken:
        raise ValueError(f"score names {', '.join(taken)}: taken by a column of the index, or given twice")
    return pa.schema([*fixed, *(pa.field(name, pa.float64()) for name in score_names)])


def fixed_columns(schema: pa.Schema) -> list[pa.Field]:
    """The fixed columns that an index with this schema should have: without those of `ADDED` that it lacks."""
    return [field for field in COLUMNS if field.name not in ADDED or field.name in schema.names]


def is_index(names: Iterable[str]) -> bool:
    """Whether a table with columns of these names is an index, of this version or an earlier one."""
    return set(names) >= set(NAMES) - ADDED


def with_added(index: pa.Table) -> pa.Table:
    """An index with those columns of `ADDED` that it lacks, null, in their place."""
    for place, field in enumerate(COLUMNS):
        if field.name in ADDED and field.name not in index.column_names:
            index = index.add_column(place, field, pa.nulls(index.num_rows, field.type))
    return index


def index_row(shard: str, placed: Placed, document: Document, record: Record, names: Sequence[str]) -> dict[str, Any]:
    """The row of one document."""
    return {
        "shard": shard,
        "offset": placed.offset,
        "length": placed.length,
        "doc_id": document.doc_id,
        "url": document.url,
        "warc_filename": document.warc_filename,
        "warc_record_offset": document.warc_record_offset,
        "warc_record_length": document.warc_record_length,
        "content_sha256": record.content_sha256,
        "n_texts": record.n_texts,
        "n_images": record.n_images,
        "n_files": len(record.files),
        "language": document.language,
        "page_type": document.page_type,
        **scores(document.scores, names),
    }


class IndexWriter:
    """Writes rows to Parquet as they come, in groups of equal size, so that equal rows give equal bytes.

    `fixed` are the fixed columns: where rows of another index are written, those that it has (see `fixed_columns`).
    """

    def __init__(self, path: Path, score_names: Sequence[str], fixed: Sequence[pa.Field] = COLUMNS) -> None:
        self._schema = index_schema(score_names, fixed)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        if kind is None:
            self._flush()
        self._writer.close()

    def write(self, row: dict[str, Any]) -> None:
        """Append one row."""
        self._rows.append(row)
        if len(self._rows) == ROWS_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, self._schema))
            self._rows = []


def read_index(path: Location, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of an index, a group of rows in memory at a time. Raises OSError or pa.ArrowException."""
    with open_parquet(path) as source:
        for batch in source.iter_batches(batch_size=ROWS_PER_GROUP, columns=columns and list(columns)):
            yield from batch.to_pylist()


def read_span(path: Location, start: int, stop: int) -> list[dict[str, Any]]:
    """The rows `start` to `stop` (exclusive) of an index; only the groups that hold them are read."""
    rows: list[dict[str, Any]] = []
    with open_parquet(path) as source:
        first = 0
        for group in range(source.num_row_groups):
            after = first + source.metadata.row_group(group).num_rows
            if first < stop and after > start:
                table = source.read_row_group(group)
                low, high = max(start - first, 0), min(stop, after) - first
                rows += table.slice(low, high - low).to_pylist()
            first = after
    return rows


def merge_indexes(parts: Sequence[Location], path: Path, score_names: Sequence[str]) -> None:
    """Write the rows of several indexes, in the order given, as one: the bytes that `IndexWriter` would write."""
    schema = index_schema(score_names)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in in_groups(_with_columns(part, schema) for part in read_tables(parts)):
            writer.write_table(group)


def _with_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with the columns of this schema; those that it lacks are null."""
    own = set(table.column_names)
    columns = [
        table[field.name].cast(field.type) if field.name in own else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def in_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows of these tables in tables of `ROWS_PER_GROUP`; the last has what is left. Each is of one piece."""
    waiting: list[pa.Table] = []
    rows = 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        if rows >= ROWS_PER_GROUP:
            joined = pa.concat_tables(waiting)
            whole = rows - rows % ROWS_PER_GROUP
            for start in range(0, whole, ROWS_PER_GROUP):
                yield joined.slice(start, ROWS_PER_GROUP).combine_chunks()
            waiting, rows = [joined.slice(whole)], rows - whole
    if rows:
        yield pa.concat_tables(waiting).combine_chunks()
