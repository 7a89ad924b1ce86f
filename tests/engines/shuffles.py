"""Files of rows to shuffle, and what a shuffle left behind."""

import os
import signal
import time
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.engines.groups import Group


def write_sources(folder: Path) -> list[Path]:
    """Three files of 300 rows, in no order, with values that are no file names; and one without a row."""
    folder.mkdir()
    paths = []
    for i in range(4):
        paths.append(folder / f"{i}.parquet")
        n = 300 if i < 3 else 0
        keys = pa.array((["a b", "c/d", "e=f"] * 100)[:n], pa.string())
        values = pa.array([None if v % 50 == 0 else v * 7919 % 1000 for v in range(i * 300, i * 300 + n)], pa.int64())
        columns = {
            "value": values,
            "key": keys,
            "name": values.cast(pa.string()),
            "small": pa.array([v % 7 for v in range(n)], pa.int16()),
            "raw": pa.array([bytes([v % 256]) for v in range(n)], pa.binary()),
            "true": pa.array([v % 2 == 0 for v in range(n)], pa.bool_()),
            "half": pa.array([None if v % 3 else v / 2 for v in range(n)], pa.float64()),
        }
        table = pa.table(columns)
        never_null = table.schema.set(3, table.schema.field(3).with_nullable(False))
        pq.write_table(table.cast(never_null), paths[-1])
    return paths


def extremes(rows: pa.Table, value: str) -> ReduceOutput:
    """A reducer: the first and the last row, and the count under the value's name."""
    return ReduceOutput({"data": rows.slice(0, 1), "last": rows.slice(rows.num_rows - 1)}, {value: rows.num_rows})


def dying(rows: pa.Table, value: str, *, folder: Path) -> ReduceOutput:
    """A reducer that kills its process the first time it sees a value."""
    if begin(folder, value):
        os.kill(os.getpid(), signal.SIGKILL)
    return extremes(rows, value)


def slow(rows: pa.Table, value: str, *, folder: Path) -> ReduceOutput:
    """A reducer that takes its time over a value at first, so that there is somebody to kill."""
    if begin(folder, value):
        time.sleep(20)
    return extremes(rows, value)


def begin(folder: Path, value: str) -> bool:
    """Leave a note of this process; whether it is the first for the value."""
    note = folder / f"begun-{quote(value, safe='')}"
    first = not note.exists()
    note.write_text(str(os.getpid()))
    return first


def rows_of(groups: dict[str, Group], output: Path, role: str = "data") -> dict[str, list[object]]:
    return {
        value: pq.read_table(output / group.pieces[role].name, partitioning=None)["value"].to_pylist()
        for value, group in groups.items()
    }


def content(output: Path) -> dict[str, bytes]:
    """Every file that is left, whatever its name."""
    return {str(path.relative_to(output)): path.read_bytes() for path in output.rglob("*") if path.is_file()}
