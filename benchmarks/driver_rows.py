"""What the driver of a run spends on each row, at three sizes, and what that is for a crawl.

    python benchmarks/driver_rows.py [--rows 3000 6000 12000] [--documents 1.9e9] [--tars 2.3e6]

Three pieces of one process, or of every worker, that grow with documents and not with units: the plan of the tars, of
one unit of which three rows in ten are duplicates; the index of the run, merged from those of the tars; and the opening
of that index to read the rows of one tar, which validation does once for each. CPU time. `benchmarks/scale_inputs.py`
takes the same files in more or fewer units, where what grows with rows cancels out: this is what it leaves out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.shards.index import ROWS_PER_GROUP, index_schema, merge_indexes, read_span
from obelics_pipeline.stages.shard.stage import plan_tars

SCORES = tuple(f"score_{i}" for i in range(24))  # as many as the default config measures
ROW_BYTES = 40_000  # of a planned document with its images
DUPLICATES = 3  # rows in ten
ROWS_OF_A_TAR = 800
OPENINGS = 20


def main() -> None:
    """Measure, and print a line for each size and what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[3_000, 6_000, 12_000])
    parser.add_argument("--documents", type=float, default=1.9e9, help="kept documents of a crawl, before dedup")
    parser.add_argument("--tars", type=float, default=2.3e6, help="tars of a crawl")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="obelics-driver-rows-") as folder:
        for name, measure in (("plan_tars", plan_seconds), ("merge_indexes", merge_seconds)):
            for rows in arguments.rows:
                print(of_rows(name, rows, measure(Path(folder), rows), arguments.documents))
        print(
            "\n".join(
                openings(Path(folder), [rows // 10 for rows in arguments.rows], arguments.documents, arguments.tars)
            )
        )


def of_rows(name: str, rows: int, seconds: float, documents: float) -> str:
    """A line of one measurement, and what a crawl of so many documents would take at the same cost per row."""
    each = seconds / rows
    crawl = each * documents / 3600
    return f"{name:14} {rows:8,} rows {seconds * 1e3:9.0f} ms {each * 1e6:8.1f} us a row {crawl:10.1f} h a crawl"


def cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU time of this process."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def plan_seconds(folder: Path, rows: int) -> float:
    """To plan the tars of one unit of so many rows."""
    (folder / "sizes").mkdir(exist_ok=True)
    name = f"sizes/{rows}.parquet"
    pq.write_table(pa.table({"row": list(range(rows)), "bytes": [ROW_BYTES] * rows}), folder / name)
    files = {"sizes": {"name": name}, "data": {"sha256": "0" * 64}}
    unit = Manifest("u-000000", "assemble", files, {}, {})
    without = {unit.unit: [row for row in range(rows) if row % 10 < DUPLICATES]}
    return cpu(partial(plan_tars, [unit], folder, load_config("default"), SCORES, without))


def merge_seconds(folder: Path, rows: int) -> float:
    """To merge the indexes of tars into that of a run."""
    parts = []
    for number, start in enumerate(range(0, rows, ROWS_OF_A_TAR)):
        parts.append(folder / f"part-{number}.parquet")
        pq.write_table(index_rows(min(ROWS_OF_A_TAR, rows - start)), parts[-1], compression="zstd")
    return cpu(partial(merge_indexes, parts, folder / "index.parquet", SCORES))


def openings(folder: Path, sizes: Sequence[int], documents: float, tars: float) -> Iterator[str]:
    """A line for each size: what it takes to open an index of so many groups of rows, and to read one tar's rows."""
    of_crawl = documents / ROWS_PER_GROUP
    for groups in sizes:
        seconds, footer = opening(folder / "wide.parquet", groups)
        hours, size = seconds * of_crawl * tars / 3600, footer * of_crawl / 1e9
        measured = f"{seconds * 1e6:6.1f} us and {footer:6.0f} bytes of footer a group"
        yield f"{'read_span':14} {groups:8,} groups of rows {measured} {hours:10.0f} CPU h and {size:.1f} GB a crawl"


def opening(where: Path, groups: int) -> tuple[float, float]:
    """Seconds for a group, and its bytes in the footer, of opening such an index to read the rows of one tar."""
    table = index_rows(10)  # the footer grows with groups, whatever they hold
    with pq.ParquetWriter(where, table.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(table)
    with pq.ParquetFile(where) as source:
        footer = source.metadata.serialized_size / groups
    return cpu(lambda: [read_span(where, 0, 10) for _ in range(OPENINGS)]) / OPENINGS / groups, footer


def index_rows(rows: int) -> pa.Table:
    """An index of so many made-up rows."""
    schema = index_schema(SCORES)
    columns = [pa.array([_value(field.type, i) for i in range(rows)], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _value(kind: pa.DataType, row: int) -> str | float | int:
    if pa.types.is_string(kind):
        return f"{row:032x}"
    return row / 7 if pa.types.is_floating(kind) else row


if __name__ == "__main__":
    main()
