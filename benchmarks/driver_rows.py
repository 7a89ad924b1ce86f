"""What a run spends on each row in the driver, or on each unit in every worker, at three sizes, and what a crawl is.

    python benchmarks/driver_rows.py [--rows 10000 20000 40000] [--documents 1.9e9] [--tars 2.3e6] [--urls 7.7e9]

Pieces of one process, or of every worker, that grow with documents and not with units, on made-up rows of which three
in ten are duplicates. A line for each: what was measured at each size; what a crawl takes at the cost of the largest;
and what it took before, from the issue that asked for it. CPU time of this process, and its memory where DuckDB has
it. `benchmarks/scale_inputs.py` takes the same files in more or fewer units, where what grows with rows cancels out:
this is what it leaves out.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Manifest, names_by_label
from obelics_pipeline.core.config import FetchingConfig, load_config
from obelics_pipeline.core.index_name import INDEX
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.shards.index import ROWS_PER_GROUP, index_schema, merge_indexes, read_span
from obelics_pipeline.core.shards.manifest import RunManifest, index_part, promises_of, shard_name
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.stages.fetch.stage import fetch_units
from obelics_pipeline.stages.shard.check_index import CheckedPart, check_part
from obelics_pipeline.stages.shard.check_look_ups import repeated_ids
from obelics_pipeline.stages.shard.index_parts import part_units, plan_parts
from obelics_pipeline.stages.shard.stage import plan_tars
from obelics_pipeline.stages.shard.validate import _parts, _tasks

SCORES = tuple(f"score_{i}" for i in range(24))  # as many as the default config measures
ROW_BYTES = 40_000  # of a planned document with its images
DUPLICATES = 3  # rows in ten
ROWS_OF_A_TAR = 800
ROWS_OF_A_PART = load_config("default").shard.index_rows
HELD = {"documents": ROWS_OF_A_TAR}
URLS_OF_A_DOCUMENT = 4
ROWS_OF_A_UNIT = 2_000  # documents
OPENINGS = 20


class Line(NamedTuple):
    """One piece: its name, how it is measured, what it is counted in, and its cost for a crawl before."""

    name: str
    measure: Callable[[Path, int], float]  # CPU seconds for so many of what it is counted in
    each: str
    of_crawl: float  # how many of them a crawl has
    before: str


def main() -> None:
    """Measure, and print a line for each piece and size, and what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 20_000, 40_000])
    parser.add_argument("--documents", type=float, default=1.9e9, help="kept documents of a crawl, before dedup")
    parser.add_argument("--tars", type=float, default=2.3e6, help="tars of a crawl")
    parser.add_argument("--urls", type=float, default=7.7e9, help="distinct image URLs of a crawl, with who asks")
    arguments = parser.parse_args()
    units = arguments.documents / ROWS_OF_A_UNIT
    lines = [
        Line("plan_tars", plan_seconds, "row", arguments.documents, "30-79 h"),
        Line("plan index", planned_seconds, "row", arguments.documents, "9.8 h: merge_indexes"),
        Line("plan checks", handed_seconds, "row", arguments.documents, "as check_part, and rows sent to workers"),
        Line("merge_indexes", merge_seconds, "row", arguments.documents, "in the driver, now in workers"),
        Line("check_part", check_seconds, "row", arguments.documents, "in the driver, now in workers"),
        Line("fetch_units", fetch_seconds, "URL", arguments.urls, "8.9 h"),
        Line("names_by_label", listing_seconds, "unit", units, "142 CPU h"),
    ]
    with tempfile.TemporaryDirectory(prefix="obelics-driver-rows-") as folder:
        for line in lines:
            for rows in arguments.rows:
                size = rows * URLS_OF_A_DOCUMENT if line.each == "URL" else rows // 10 if line.each == "unit" else rows
                print(of_rows(line, size, line.measure(Path(folder), size)), flush=True)
        for rows in arguments.rows:
            print(opening(Path(folder) / "wide.parquet", rows // 100, arguments.tars), flush=True)
        for rows in arguments.rows:
            print(repeated(Path(folder) / "ids.parquet", rows * 100), flush=True)


def of_rows(line: Line, count: int, seconds: float) -> str:
    """A line of one measurement, and what a crawl would take at the same cost for each."""
    each = seconds / count
    hours = each * line.of_crawl / 3600
    cost = f"{count:9,} {line.each + 's':5} {seconds * 1e3:8.0f} ms {each * 1e6:8.2f} us each"
    return f"{line.name:14} {cost} {hours:8.2f} h a crawl (was {line.before})"


def cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU time of this process."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def plan_seconds(folder: Path, rows: int) -> float:
    """To plan the tars of units of `ROWS_OF_A_UNIT` rows, and of one that has as many as all of them."""
    (folder / "sizes").mkdir(exist_ok=True)
    units, without = [], []
    for number, size in enumerate([rows // 2, *[ROWS_OF_A_UNIT] * (rows // 2 // ROWS_OF_A_UNIT)]):
        name = f"sizes/{size}.parquet"
        pq.write_table(pa.table({"row": list(range(size)), "bytes": [ROW_BYTES] * size}), folder / name)
        files = {"sizes": {"name": name}, "data": {"sha256": "0" * 64}}
        units.append(Manifest(f"u-{number:06}", "assemble", files, {}, {}))
        without.append(np.flatnonzero(np.arange(size) % 10 < DUPLICATES))
    plan = partial(plan_tars, units, folder, load_config("default"), SCORES, without)
    plan()  # the first call reads the code of the stage, which each unit's id holds
    return cpu(plan)


def parts_of(folder: Path, rows: int) -> list[Path]:
    """The indexes of tars of so many rows together."""
    parts = []
    whole = index_rows(rows)
    for number, start in enumerate(range(0, rows, ROWS_OF_A_TAR)):
        parts.append(folder / f"part-{number}.parquet")
        pq.write_table(whole.slice(start, ROWS_OF_A_TAR), parts[-1], compression="zstd")
    return parts


def merge_seconds(folder: Path, rows: int) -> float:
    """To merge the indexes of tars into that of a run."""
    return cpu(partial(merge_indexes, parts_of(folder, rows), folder / INDEX, SCORES))


def planned_seconds(folder: Path, rows: int) -> float:
    """To deal out the tars of an index in parts and to make their units."""
    tars = [
        Manifest(f"shard-{i:06}", "shard", {"index": {"name": f"{i:06}.parquet", "sha256": "0" * 64}}, {}, HELD)
        for i in range(rows // ROWS_OF_A_TAR)
    ]
    counts = [tar.notes["documents"] for tar in tars]

    def plan() -> object:
        return part_units(tars, plan_parts(counts, ROWS_OF_A_PART), SCORES)

    plan()  # the first call reads the code of the stage, which each unit's id holds
    return cpu(plan)


def manifest_of(index: Path, rows: int) -> RunManifest:
    """The manifest of a run with this index."""
    counts = [min(ROWS_OF_A_TAR, rows - start) for start in range(0, rows, ROWS_OF_A_TAR)]
    shards = tuple(ShardEntry(shard_name(i), "0" * 64, 1, count, 1, 1, 1) for i, count in enumerate(counts))
    return RunManifest(shards, (index_part(index, len(shards)),), promises_of(load_config("default"), SCORES), {}, {})


def handed_seconds(folder: Path, rows: int) -> float:
    """To hand out the checks of the parts of an index and of its tars."""
    (folder / INDEX).write_bytes(b"")
    manifest = manifest_of(folder / INDEX, rows)
    return cpu(lambda: [*_parts(manifest), *_tasks(manifest, [CheckedPart(())])])


def check_seconds(folder: Path, rows: int) -> float:
    """To hold a part of an index to the manifest."""
    merge_indexes(parts_of(folder, rows), folder / INDEX, SCORES)
    manifest = manifest_of(folder / INDEX, rows)
    return cpu(lambda: check_part(folder, SCORES, (manifest.index[0], manifest.shards)))


def fetch_seconds(folder: Path, urls: int) -> float:
    """To plan the fetch of a bucket whose requests come from as many files as units ask; the driver opens none."""
    names = [f"requests-{start}.parquet" for start in range(0, urls, ROWS_OF_A_UNIT * URLS_OF_A_DOCUMENT)]
    requests = Partitions(folder, {"0": names}, {"0": "told by the worker that has them"})
    return cpu(partial(fetch_units, requests, folder / "fetch", FetchingConfig(), {}))


def listing_seconds(folder: Path, units: int) -> float:
    """To list the units of a stage, of which each is given the earlier ones of its label."""
    stage = folder / f"stage-{units}"
    (stage / "manifests").mkdir(parents=True)
    for number in range(units):
        (stage / "manifests" / f"crawl-{number:06}-0123456789abcdef.json").touch()
    return cpu(partial(names_by_label, stage))


def opening(where: Path, groups: int, tars: float) -> str:
    """What it takes to open a part of an index of so many groups of rows and to read one tar's rows."""
    table = index_rows(10)  # the footer grows with groups, whatever they hold
    with pq.ParquetWriter(where, table.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(table)
    with pq.ParquetFile(where) as source:
        footer = source.metadata.serialized_size / groups
    seconds = cpu(lambda: [read_span(where, 0, 10) for _ in range(OPENINGS)]) / OPENINGS / groups
    of_part = ROWS_OF_A_PART / ROWS_PER_GROUP
    hours, size = seconds * of_part * tars / 3600, footer * of_part / 1e6
    measured = f"{seconds * 1e6:6.1f} us and {footer:6.0f} bytes of footer a group"
    crawl = f"{hours:.0f} CPU h of all workers and {size:.1f} MB in each, in parts of {ROWS_OF_A_PART:,} rows"
    return f"{'read_span':14} {groups:9,} groups {measured}: {crawl}"


def repeated(where: Path, rows: int) -> str:
    """What it takes to look for repeated ids in an index of so many rows: time and memory of a process of its own."""
    ids = pc.binary_join_element_wise(pa.array(np.arange(rows)).cast(pa.string()), pa.scalar("0" * 20), "-")
    pq.write_table(pa.table({"doc_id": ids}), where)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, before, after = pool.apply(_look_for_repeated, (where, rows))
    crawl = "380 GB of memory"
    return (
        f"{'repeated ids':14} {rows:9,} rows  {seconds:8.1f} s CPU, {(after - before) / 1e3:5.0f} MB more (was {crawl})"
    )


def _look_for_repeated(where: Path, rows: int) -> tuple[float, int, int]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = cpu(partial(repeated_ids, [where], rows, map))
    return seconds, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def index_rows(rows: int) -> pa.Table:
    """An index of so many made-up rows, `ROWS_OF_A_TAR` to a tar."""
    schema = index_schema(SCORES)
    columns = [pa.array([_value(field, i) for i in range(rows)], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _value(field: pa.Field, row: int) -> str | float | int:
    if field.name == "shard":
        return f"shard-{row // ROWS_OF_A_TAR:06}.tar"
    if pa.types.is_string(field.type):
        return f"{row:032x}"
    return row / 7 if pa.types.is_floating(field.type) else row


if __name__ == "__main__":
    main()
