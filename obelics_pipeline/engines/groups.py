"""What a regroup leaves behind: a folder of Parquet files per value of the column, and the count of their rows."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.storage import Place, write_table

READERS = 32  # footers read at a time: behind a network each takes some 20 ms


def write_group(rows: pa.Table, column: str, output: Place) -> None:
    """Write the rows of one value, which must hold no other, as one file: whole or not at all.

    Its bytes do not depend on the order in which rows arrived: they are sorted by all columns.
    """
    value = rows[column][0].as_py()
    rows = rows.drop_columns([column]).combine_chunks().replace_schema_metadata()
    if rows.num_columns:
        rows = rows.sort_by([(name, "ascending") for name in rows.column_names])
    write_table(rows, group_path(output, column, str(value)))


def group_path(output: Place, column: str, value: str) -> Place:
    """The file of one value's rows."""
    return output / f"{column}={quote(value, safe='')}" / "data_0.parquet"


def groups_in(output: Place, column: str) -> dict[str, list[Place]]:
    """The files of each value."""
    groups: dict[str, list[Place]] = {}
    found: list[Place] = list(output.glob(f"{column}=*/*.parquet"))
    for path in sorted(found, key=str):
        groups.setdefault(unquote(path.parent.name.partition("=")[2]), []).append(path)
    return groups


def count_rows(paths: Iterable[Place]) -> int:
    """Rows of Parquet files, as their footers say."""
    with ThreadPoolExecutor(READERS) as readers:
        return sum(readers.map(_rows, paths))


def _rows(path: Place) -> int:
    with path.open("rb") as stream:
        return int(pq.read_metadata(stream).num_rows)
