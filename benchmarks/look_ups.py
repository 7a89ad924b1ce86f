"""What it takes to find one document among many, by the look-up and by reading the index, and what the look-up costs.

    python -m benchmarks.look_ups [--rows 10000 100000 1000000]

The files lie in memory behind the interface of an object store, so that requests and bytes are those of a store; times
are CPU seconds of this process, without any wait. The index is made up, with as many scores as the default config has.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from upath import UPath

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.index_name import INDEX
from obelics_pipeline.core.shards.index import ROWS_PER_GROUP, index_schema
from obelics_pipeline.core.shards.look_up import (
    FOLDER,
    KEYS,
    bucket_count,
    bucket_of,
    facts_of,
    places,
    rows_of,
    write_look_up,
)
from obelics_pipeline.core.shards.manifest import IndexPart, LookUpPart, RunManifest, promises_of
from obelics_pipeline.core.storage import file_sha256, location, read_table

SCORES = tuple(f"score_{i}" for i in range(24))
ROWS_OF_A_TAR = 800
ASKED = 20  # documents, one after the other


class Counted:
    """A folder in memory, and what is read of it."""

    def __init__(self, name: str) -> None:
        found = location(f"memory://{name}")
        assert isinstance(found, UPath)
        self.folder: UPath = found
        self.requests, self.bytes = 0, 0
        read: Callable[..., bytes] = self.folder.fs.cat_file

        def counted(path: str, **span: Any) -> bytes:
            data = read(path, **span)
            self.requests, self.bytes = self.requests + 1, self.bytes + len(data)
            return data

        self.folder.fs.cat_file = counted

    def cost(self, of: Callable[[], object], times: int) -> str:
        """CPU seconds, bytes and requests of one of so many equal calls."""
        requests, size, begin = self.requests, self.bytes, time.process_time()
        for _ in range(times):
            of()
        seconds = (time.process_time() - begin) / times
        asked, read = (self.requests - requests) / times, (self.bytes - size) / times
        return f"{seconds:9.4f} s {read / 1e6:9.2f} MB {asked:5.1f} requests"


def index_of_rows(rows: int) -> pa.Table:
    """An index of so many made-up rows."""
    chance, numbers = np.random.default_rng(rows), np.arange(rows)
    text = pa.array(numbers).cast(pa.string())
    ids = pa.array([f"{high:016x}{low:016x}" for high, low in chance.integers(0, 2**63, (rows, 2)).tolist()])
    tar = pc.utf8_lpad(pa.array(numbers // ROWS_OF_A_TAR).cast(pa.string()), 6, "0")
    values = {
        "shard": pc.binary_join_element_wise("shard-", tar, ".tar", ""),
        "offset": pa.array(numbers % ROWS_OF_A_TAR * 40_960),
        "length": pa.array(np.full(rows, 40_960)),
        "doc_id": ids,
        "url": pc.binary_join_element_wise("https://site-", text, ".example/a/page/of/it.html", ""),
        "content_sha256": pc.binary_join_element_wise(ids, ids, ""),
    }
    columns = []
    for field in index_schema(SCORES):
        known = values.get(field.name)
        if known is None and pa.types.is_floating(field.type):
            known = pa.array(chance.random(rows))
        elif known is None:
            known = text if pa.types.is_string(field.type) else pa.array(numbers)
        columns.append(known.cast(field.type))
    return pa.Table.from_arrays(columns, schema=index_schema(SCORES))


def build(index: pa.Table, store: Counted, scratch: Path) -> tuple[RunManifest, float, int]:
    """Put the index and its look-ups to a store; the manifest, CPU seconds for the look-ups, and their bytes."""
    place = scratch / INDEX
    pq.write_table(index, place, row_group_size=ROWS_PER_GROUP, compression="zstd")
    store.folder.fs.put_file(str(place), (store.folder / INDEX).path)
    begin, parts = time.process_time(), list[LookUpPart]()
    buckets = bucket_count(index.num_rows)
    for kind in KEYS:
        rows = rows_of(index, kind)
        of_rows = bucket_of(rows["hash"].to_numpy(), buckets)
        for number in range(buckets):
            path = scratch / f"{kind}-{number}.parquet"
            write_look_up(rows.filter(pa.array(of_rows == number)), path)
            facts = facts_of(kind, path)
            parts.append(LookUpPart(name=path.name, sha256=file_sha256(path), bytes=path.stat().st_size, **facts))
    seconds = time.process_time() - begin
    for part in parts:
        store.folder.fs.put_file(str(scratch / part.name), (store.folder / FOLDER / part.name).path)
    whole = (IndexPart(INDEX, file_sha256(place), place.stat().st_size, 0),)
    manifest = RunManifest((), whole, promises_of(RunConfig(), SCORES), {}, {}, tuple(parts))
    return manifest, seconds, sum(part.bytes for part in parts)


def measure(rows: int) -> None:
    """Print the lines of one size."""
    store = Counted(f"look-ups-{rows}")
    with tempfile.TemporaryDirectory(prefix="obelics-look-ups-") as scratch:
        index = index_of_rows(rows)
        manifest, seconds, size = build(index, store, Path(scratch))
    share = size / manifest.index[0].bytes
    print(
        f"{rows:10,} rows, build    {seconds / rows * 1e6:9.2f} us {size / rows:7.1f} B a row, {share:.0%} of the index"
    )
    urls = index["url"].take(np.linspace(0, rows - 1, ASKED, dtype=np.int64)).to_pylist()
    asked = iter(urls)
    wanted = urls[ASKED // 2]
    by = store.cost(lambda: places(store.folder, manifest, "url", [next(asked)]), ASKED)
    scan = store.cost(lambda: read_table(store.folder / INDEX, filters=[("url", "==", wanted)]), 3)
    none = store.cost(lambda: places(store.folder, manifest, "url", ["https://none.example/"]), 3)
    for name, line in (("by look-up", by), ("not there", none), ("by scan", scan)):
        print(f"{rows:10,} rows, {name:10} {line}", flush=True)


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    for rows in parser.parse_args().rows:
        measure(rows)


if __name__ == "__main__":
    main()
