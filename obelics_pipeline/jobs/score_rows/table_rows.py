"""Rows of Parquet files: read a bounded number at a time, scored by an engine, and written with their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location, open_parquet
from obelics_pipeline.jobs.score_rows.columns import Asked, Value, is_text
from obelics_pipeline.jobs.score_rows.document_of_row import INTERLEAVED, KEYS, PLAIN, document_of_row, image_urls
from obelics_pipeline.jobs.score_rows.in_workers import BYTES_PER_BATCH, Maps, in_windows
from obelics_pipeline.jobs.score_rows.scorer import scorer_of
from obelics_pipeline.stages.rows.row_error import NOT_UTF8, RowError

SUFFIXES = (".parquet",)

ROWS_PER_BATCH = 128  # or BYTES_PER_BATCH, by the mean of the file
ROWS_PER_GROUP = 1000  # of the output
BYTES_PER_GROUP = 64 * 2**20  # or so many in memory


@dataclass(frozen=True)
class TableBatch:
    """Rows of one file; `first` is the number of the first one, from 0."""

    file: str
    first: int
    rows: pa.RecordBatch

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def halves(self) -> tuple[TableBatch, TableBatch]:
        """The same rows as two batches."""
        half = len(self) // 2
        second = TableBatch(self.file, self.first + half, self.rows.slice(half))
        return TableBatch(self.file, self.first, self.rows.slice(0, half)), second

    def size(self) -> int:
        """Bytes of the rows as Arrow holds them."""
        return int(self.rows.nbytes)

    def sent(self) -> SentRows:
        """What a worker needs to see of it."""
        read = self.rows.select([name for name in self.rows.schema.names if name in KEYS])
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, read.schema) as writer:
            writer.write_batch(read)  # pickling would send all that the rows are a slice of
        return SentRows(f"{self.file} rows {self.first} to {self.first + len(self) - 1}", sink.getvalue())


@dataclass(frozen=True)
class SentRows:
    """The columns of rows that documents are made of, as an Arrow stream."""

    place: str
    data: pa.Buffer

    def __repr__(self) -> str:
        return self.place


@dataclass(frozen=True)
class ScoredTable:
    """Rows with their scores, and the rows that failed, with position and reason."""

    table: pa.Table
    failures: list[tuple[str, RowError]]

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.table.num_rows)


def output_schema(files: Sequence[Location], columns: Sequence[str], replace: bool) -> pa.Schema:
    """The columns of the input and the scores, after a look at every file.

    Raises UserError for a file that is no Parquet or without texts, for files of different columns, and for a score
    whose name is a column already, unless it may be replaced.
    """
    schema = _schema(files[0])
    for file in files[1:]:
        _check_equal(_schema(file), schema, file, files[0])
    _check_columns(schema, files[0])
    taken = [name for name in columns if name in schema.names]
    if taken and not replace:
        raise UserError(f"{files[0]}: has a column {taken[0]} already; leave it out of --columns, or give --replace")
    for name in columns:
        field = pa.field(name, pa.string() if is_text(name) else pa.float64())
        at = schema.get_field_index(name)
        schema = schema.append(field) if at < 0 else schema.set(at, field)
    return schema


def _schema(file: Location) -> pa.Schema:
    try:
        with open_parquet(file) as source:
            return source.schema_arrow
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UserError(f"input {file}: {'no such file' if isinstance(error, FileNotFoundError) else error}") from None
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"input {file}: cannot be read as Parquet ({_first_line(error)})") from None


def _check_equal(schema: pa.Schema, expected: pa.Schema, file: Location, first: Location) -> None:
    if schema.equals(expected, check_metadata=False):
        return
    fields, wanted = (sorted(f"{field.name}: {field.type}" for field in s) for s in (schema, expected))
    differing = sorted(set(fields) ^ set(wanted)) or ["their order"]
    raise UserError(f"{file}: other columns than {first} ({differing[0]}); score them one by one")


def _check_columns(schema: pa.Schema, file: Location) -> None:
    twice = [name for name, n in Counter(schema.names).items() if n > 1]
    if twice:
        raise UserError(f"{file}: has two columns {twice[0]}; rename one")
    if INTERLEAVED not in schema.names and PLAIN not in schema.names:
        found = ", ".join(schema.names)[:200]
        raise UserError(f"{file}: has neither a column {INTERLEAVED} (as published) nor {PLAIN}; found {found}")
    for name in (INTERLEAVED, "images"):
        kind = schema.field(name).type if name in schema.names else pa.null()
        if not types.is_null(kind) and not (_is_list(kind) and _is_string(kind.value_type)):
            raise UserError(f"{file}: column {name} is {kind}, and must be a list of strings")
    if INTERLEAVED not in schema.names and not _is_string(schema.field(PLAIN).type):
        raise UserError(f"{file}: column {PLAIN} is {schema.field(PLAIN).type}, and must be a string")


def _is_list(kind: pa.DataType) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_string(kind: pa.DataType) -> bool:
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return str(kind) in ("string", "large_string", "string_view", "null")


def scored_tables(
    files: Sequence[Location], asked: Asked, schema: pa.Schema, engine: Maps, at_once: int
) -> Iterator[ScoredTable]:
    """The rows of all files, in their order, scored; `at_once` batches are held. Raises UserError."""
    work = partial(score_rows, asked=asked)
    for batch, parts in in_windows(read_batches(files), at_once, engine, work, _lost):
        yield _with_scores(batch, [row for part in parts for row in part], asked.columns(), schema)


def read_batches(files: Sequence[Location]) -> Iterator[TableBatch]:
    """The rows of all files. Raises UserError."""
    return (batch for file in files for batch in read_rows(file))


def read_rows(file: Location) -> Iterator[TableBatch]:
    """The rows of a file, in batches whose size the file's footer decides. Raises UserError."""
    first = 0
    try:
        with open_parquet(file) as source:
            meta = source.metadata
            size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
            rows = max(1, min(ROWS_PER_BATCH, BYTES_PER_BATCH * meta.num_rows // max(1, size)))
            for batch in source.iter_batches(rows):
                yield TableBatch(str(file), first, batch)
                first += len(batch)
    except (OSError, pa.ArrowException) as error:
        said = f"cannot be read beyond row {first} ({_first_line(error)}); nothing was written"
        raise UserError(f"input {file}: {said}") from None


def _lost(_batch: TableBatch, error: RowError) -> list[list[Value] | RowError]:
    return [error]


def score_rows(sent: SentRows, asked: Asked) -> list[list[Value] | RowError]:
    """For each row the values of the columns, or why it has none."""
    scored = scorer_of(asked).score(_received(sent))
    return [x if isinstance(x, RowError) else list(x.values()) for x in scored]


def images_of_rows(sent: SentRows, at_most: int) -> list[str]:
    """The URLs of the first images of the documents of some rows."""
    return image_urls(_received(sent), at_most)


def _received(sent: SentRows) -> list[Document | RowError]:
    with pa.ipc.open_stream(sent.data) as stream:
        return [document for batch in stream for document in _documents(batch)]


def _documents(batch: pa.RecordBatch) -> Iterator[Document | RowError]:
    for i in range(len(batch)):
        try:
            yield document_of_row(batch.slice(i, 1).to_pylist()[0])
        except UnicodeDecodeError as error:
            yield RowError(NOT_UTF8, f"byte {error.start} of a string")
        except RowError as error:
            yield error


def _with_scores(
    batch: TableBatch, results: Sequence[list[Value] | RowError], columns: Sequence[str], schema: pa.Schema
) -> ScoredTable:
    arrays = {name: batch.rows.column(i) for i, name in enumerate(batch.rows.schema.names)}
    for i, name in enumerate(columns):
        values = [None if isinstance(values, RowError) else values[i] for values in results]
        arrays[name] = pa.array(values, schema.field(name).type)
    table = pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)
    failures = [
        (f"{batch.file} row {row}", error) for row, error in enumerate(results, batch.first)
        if isinstance(error, RowError)
    ]  # fmt: skip
    return ScoredTable(table, failures)


class TableWriter:
    """Writes rows to a local Parquet file; equal batches give equal bytes. A context manager."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._sink = pq.ParquetWriter(path, schema, compression="zstd")
        self._pending: list[pa.Table] = []
        self._rows, self._bytes = 0, 0

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is None:
            self._flush()
        self._sink.close()

    def write(self, scored: ScoredTable) -> None:
        """Add rows."""
        self._pending.append(scored.table)
        self._rows += scored.rows
        self._bytes += scored.table.nbytes
        if self._rows >= ROWS_PER_GROUP or self._bytes >= BYTES_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            self._sink.write_table(pa.concat_tables(self._pending), row_group_size=self._rows)
            self._pending, self._rows, self._bytes = [], 0, 0


def count_rows(path: Path) -> int:
    """Rows of a file that was written, as its footer says."""
    return int(pq.read_metadata(path).num_rows)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
