"""The rows of each tar in a run's index: read once, in order, and handed to the process that checks the tar."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.shards.index import ROWS_PER_GROUP, read_span
from obelics_pipeline.core.storage import Location, open_parquet, read_table


@dataclass(frozen=True)
class IndexRows:
    """Rows `start` to `stop` (exclusive) of an index, for another process.

    It carries the rows, as an Arrow stream; or, to be small, the file that the tar's rows were committed in, and a
    fingerprint: that file speaks for the index only where it has the same rows. An index is opened by nobody else, as
    its footer grows with the run.
    """

    start: int
    stop: int
    carried: bytes | None = None
    part: Location | None = None
    sha256: str = ""

    def read(self, index: Location) -> list[dict[str, Any]]:
        """The rows. Only those of a part that is gone, damaged or different are read from the index itself."""
        if self.carried is not None:
            with pa.ipc.open_stream(self.carried) as stream:
                return stream.read_all().to_pylist()  # type: ignore[no-any-return]
        if self.part is not None:
            try:
                rows = read_table(self.part)
                if fingerprint(rows) == self.sha256:
                    return rows.to_pylist()  # type: ignore[no-any-return]
            except (OSError, ValueError, pa.ArrowException, Damaged):
                pass
        return read_span(index, self.start, self.stop)


NO_ROWS = IndexRows(0, 0)


def handed(rows: pa.Table, start: int, part: Location | None) -> IndexRows:
    """The rows of one tar, which begin at `start` of the index; `part` is where they were committed, if known."""
    stop = start + rows.num_rows
    if part is None:
        return IndexRows(start, stop, carried=_stream(rows))
    return IndexRows(start, stop, part=part, sha256=fingerprint(rows))


def tars_in_order(index: Path) -> Iterator[tuple[str, pa.Table]]:
    """Each tar of an index with its rows, as they follow each other; one that comes again comes twice.

    Raises OSError or pa.ArrowException.
    """
    shard, pieces = "", list[pa.Table]()
    with open_parquet(index) as source:
        for batch in source.iter_batches(batch_size=ROWS_PER_GROUP):
            runs = pc.run_end_encode(batch["shard"])
            first = 0
            for name, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
                if pieces and name != shard:
                    yield shard, pa.concat_tables(pieces)
                    pieces = []
                shard = name
                pieces.append(pa.Table.from_batches([batch.slice(first, end - first)]))
                first = end
    if pieces:
        yield shard, pa.concat_tables(pieces)


def fingerprint(rows: pa.Table) -> str:
    """sha256 of the names, types and values of a table, wherever its bytes lie and whatever stands below a null."""
    sha256 = hashlib.sha256(repr([(field.name, str(field.type)) for field in rows.schema]).encode())
    for column in rows.combine_chunks().columns:
        for chunk in column.chunks:  # one, or none where there are no rows
            for piece in _values(chunk):
                sha256.update(piece)
    return sha256.hexdigest()


def _values(column: pa.Array) -> Iterator[bytes | memoryview]:
    """Which values are null, and the values: of texts their lengths in bytes, and the texts."""
    yield column.is_null().to_numpy(zero_copy_only=False).tobytes()
    if not pa.types.is_string(column.type):
        yield column.fill_null(0).to_numpy().tobytes()
        return
    filled = column.fill_null("")
    _, offsets, text = filled.buffers()
    ends = np.frombuffer(offsets, np.int32)[filled.offset : filled.offset + len(filled) + 1]
    yield np.diff(ends).tobytes()
    if text is not None:
        yield memoryview(text)[int(ends[0]) : int(ends[-1])]


def _stream(rows: pa.Table) -> bytes:
    """A table as an Arrow stream: of a slice, what is around it stays behind."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows.combine_chunks())
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
