"""What a shuffle leaves behind: for each value of the column what was made of its rows, and a receipt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.content_name import content_name
from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.core.storage import (
    Location,
    draft_for,
    file_sha256,
    names_in,
    put,
    read_bytes,
    read_end,
    write_bytes,
)

READERS = 32  # footers or receipts read at a time: behind a network each takes some 20 ms
FOOTER = 2**16  # bytes, with room for some hundred groups of rows
RECEIPT = ".json"  # ends the name of a receipt; it is written last: a group without one is not there
DATA = "data"  # the role of rows as they were dealt out


Reduce = Callable[[pa.Table, str], ReduceOutput]  # all rows of a value, sorted, without the column; and the value


@dataclass(frozen=True)
class Piece:
    """A file of a group: its place below the shuffle's output, the sha256 of its bytes, its rows."""

    name: str
    sha256: str
    rows: int


@dataclass(frozen=True)
class Group:
    """One value of a shuffle: how many rows came in, and what was made of them."""

    rows: int
    pieces: Mapping[str, Piece]
    notes: Mapping[str, Any]


def as_they_are(rows: pa.Table, _value: str) -> ReduceOutput:
    """The rows of a value, dealt out and no more."""
    return ReduceOutput({DATA: rows})


def write_group(rows: pa.Table, column: str, reduce: Reduce, output: Location) -> None:
    """Reduce the rows of one value, which must hold no other, and write the results, each file whole.

    No byte depends on the order in which rows arrived: they are sorted by all columns first.
    """
    value = str(rows[column][0].as_py())
    entered = rows.num_rows
    rows = rows.drop_columns([column]).combine_chunks().replace_schema_metadata()
    if rows.num_columns:
        rows = rows.sort_by([(name, "ascending") for name in rows.column_names])
    reduced = reduce(rows, value)
    stem = f"{column}={quote(value, safe='')}"
    pieces = {role: _write(table, f"{stem}.{role}", output) for role, table in sorted(reduced.tables.items())}
    receipt = {"rows": entered, "pieces": pieces, "notes": dict(reduced.notes)}
    write_bytes(output / f"{stem}{RECEIPT}", (json.dumps(receipt, sort_keys=True) + "\n").encode())


def _write(table: pa.Table, stem: str, output: Location) -> dict[str, Any]:
    path = draft_for(output, ".parquet")
    try:
        pq.write_table(table, path, compression="zstd")
        sha256 = file_sha256(path)
        name = content_name(stem, sha256, ".parquet")
        put(path, output / name)
    finally:
        path.unlink(missing_ok=True)
    return {"name": name, "sha256": sha256, "rows": table.num_rows}


def read_groups(output: Location, column: str, sources: Sequence[Location]) -> dict[str, Group]:
    """The groups of a shuffle by value, sorted.

    Raises RuntimeError where what came out is not what the sources hold, row for row: no engine is trusted with that.
    """
    prefix = f"{column}="
    names = [name for name in names_in(output, prefix) if name.endswith(RECEIPT)]
    with ThreadPoolExecutor(READERS) as readers:
        receipts = list(readers.map(lambda name: json.loads(read_bytes(output / name)), names))
    groups = {
        unquote(name.removeprefix(prefix).removesuffix(RECEIPT)): Group(
            receipt["rows"], {role: Piece(**piece) for role, piece in receipt["pieces"].items()}, receipt["notes"]
        )
        for name, receipt in zip(names, receipts, strict=True)
    }
    entered, dealt = count_rows(sources), sum(group.rows for group in groups.values())
    if entered != dealt:
        raise RuntimeError(f"shuffle by {column}: {entered} rows went in and {dealt} came out; this is a bug")
    return dict(sorted(groups.items()))


def count_rows(paths: Iterable[Location]) -> int:
    """Rows of Parquet files, as their footers say."""
    with ThreadPoolExecutor(READERS) as readers:
        return sum(readers.map(row_count, paths))


def has_rows(paths: Iterable[Location]) -> bool:
    """Whether any of these Parquet files has rows; none is opened after the first that has."""
    return any(map(row_count, paths))


def row_count(path: Location) -> int:
    """Rows of a Parquet file, as its footer says: of an object by one request, unless the footer is large."""
    if isinstance(path, Path):
        return int(pq.read_metadata(path).num_rows)
    end = read_end(path, FOOTER)
    if int.from_bytes(end[-8:-4], "little") + 8 > len(end):
        with path.open("rb") as stream:
            return int(pq.read_metadata(stream).num_rows)
    return int(pq.read_metadata(pa.BufferReader(end)).num_rows)
