"""What workers spend on rows that come together: verdicts, keepers, counts of uses, requests; and DuckDB on dealing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.scale.fit import Size
from benchmarks.scale.made_run import DUPLICATES_IN_TEN, FEW, MadeRun, index_rows
from benchmarks.scale.process import Spent, memory_folder, spent_by
from obelics_pipeline.core.shards.index import merge_indexes, read_index
from obelics_pipeline.engines.groups import as_they_are
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.stages.dedup.candidates import TEXT
from obelics_pipeline.stages.dedup.judge import contract_turn, first, limit, link
from obelics_pipeline.stages.dedup.shuffled_rows import CANDIDATES, EDGES, USES, without_bucket
from obelics_pipeline.stages.dedup.uses import PARAGRAPH
from obelics_pipeline.stages.fetch.requests import request_rows

SKETCH_BYTES = 64
Numbers = npt.NDArray[np.int64]


def worker_steps(size: Size) -> dict[str, Spent]:
    """What each step spends on one bucket with `size.rows` rows, which come from `size.units` units."""
    rows, units = int(size.rows), int(size.units)
    one_bucket = {"buckets": 1}
    steps: Mapping[str, Callable[[], object]] = {
        "dedup: verdicts": partial(link, messages(rows, units, CANDIDATES), "0", threshold=0.8, **one_bucket),
        "dedup: a turn of groups": partial(contract_turn, edges(rows, units), "0", turn=1, **one_bucket),
        "dedup: counts of uses": partial(limit, messages(rows, units, USES), "0", limits={PARAGRAPH: 10}),
        "shard: keepers": partial(first, messages(rows, units, CANDIDATES, sketches=False), "0"),
    }
    return {name: spent_by(step) for name, step in steps.items()}


def requests_of_a_bucket(size: Size) -> dict[str, Spent]:
    """What a unit of the fetch spends on its list of so many addresses."""
    rows = int(size.rows)
    run = MadeRun(rows, int(size.units))
    place = Path(tempfile.mkdtemp(prefix="obelics-scale-", dir=memory_folder()))
    try:
        for part in range(FEW):
            pq.write_table(run.requests(part).slice(0, rows // FEW), place / f"{part}.parquet")
        names = [place / f"{part}.parquet" for part in range(FEW)]
        return {"fetch: requests": spent_by(partial(request_rows, names))}
    finally:
        shutil.rmtree(place)


def dealing(size: Size) -> dict[str, Spent]:
    """What the local engine spends in the driver on a shuffle of so many rows, which so many units wrote."""
    units = int(size.units)
    place = Path(tempfile.mkdtemp(prefix="obelics-scale-", dir=memory_folder()))
    try:
        whole = messages(int(size.rows), units, USES)
        whole = whole.append_column("bucket", pa.array(np.arange(whole.num_rows) % BUCKETS, pa.int32()))
        each = -(-whole.num_rows // units)
        sources = [place / f"{unit}.parquet" for unit in range(units)]
        for unit, source in enumerate(sources):
            pq.write_table(whole.slice(unit * each, each), source, compression="zstd")
        del whole
        with LocalEngine(1, place, 3600.0) as engine:
            list(engine.map(id, [0]))  # starts the worker
            return {
                "local engine: dealing": spent_by(
                    partial(engine.shuffle, sources, "bucket", as_they_are, place / "out")
                )
            }
    finally:
        shutil.rmtree(place)


BUCKETS = 16


def messages(rows: int, units: int, schema: pa.Schema, sketches: bool = True) -> pa.Table:
    """Rows of a bucket, in which three keys in ten have come before. Duplicates have the same sketch."""
    chance = np.random.default_rng([rows, units])
    keys = _keys(chance, rows)
    sketch = np.repeat(keys[:, None], SKETCH_BYTES // 8, axis=1)
    columns = {
        "rule": pa.array(["text" if schema is CANDIDATES else PARAGRAPH]).take(pa.array(np.zeros(rows, np.int64))),
        "key": _bytes(np.stack([keys, keys], axis=1)),
        "sketch": _bytes(sketch) if sketches else pa.nulls(rows, pa.binary()),
        "count": pa.array(np.ones(rows, np.int64)),
        **_documents(chance, rows, units),
    }
    return pa.table({name: columns[name] for name in without_bucket(schema).names})


def edges(rows: int, units: int) -> pa.Table:
    """Edges of a bucket, from duplicates to documents before them."""
    chance = np.random.default_rng([rows, units, 1])
    child = _documents(chance, rows, units)
    of = {f"of_{name}": column for name, column in _documents(chance, rows, units).items()}
    rule = pa.array([TEXT]).take(pa.array(np.zeros(rows, np.int64)))
    return pa.table({name: (child | of | {"rule": rule})[name] for name in EDGES.names}).cast(EDGES)


def _keys(chance: np.random.Generator, rows: int) -> Numbers:
    keys = chance.integers(0, 2**63, rows)
    again = np.flatnonzero(chance.integers(0, 10, rows) < DUPLICATES_IN_TEN)
    keys[again] = keys[again * 7919 % rows]
    return keys


def _documents(chance: np.random.Generator, rows: int, units: int) -> dict[str, pa.Array]:
    """The columns that say which document a row is of."""
    names = pa.array([f"CC-MAIN-20260101000000-20260101000000-{i:05}-{i:016x}" for i in range(units)])
    unit, row = chance.integers(0, units, rows), chance.integers(0, 2_000, rows)
    return {
        "generation": pa.array(np.zeros(rows, np.int16)),
        "recency": pa.array(np.zeros(rows, np.int64)),
        "partition": names.take(pa.array(unit)),
        "row": pa.array(row.astype(np.int32)),
        "doc": _bytes(np.stack([unit * 2_000 + row, row], axis=1)),
    }


def _bytes(words: npt.NDArray[np.int64]) -> pa.Array:
    """Rows of numbers as byte strings."""
    width = words.shape[1] * 8
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(words), [None, pa.py_buffer(np.ascontiguousarray(words))]
    ).cast(pa.binary())


def tar_of_index(size: Size) -> dict[str, Spent]:
    """What it takes to join the indexes of tars, as whoever writes the index of a run does, and to read it."""
    place = Path(tempfile.mkdtemp(prefix="obelics-scale-", dir=memory_folder()))
    scores = [f"score_{i}" for i in range(24)]
    try:
        parts = []
        for number, rows in enumerate(np.array_split(np.arange(int(size.rows)), int(size.units))):
            parts.append(place / f"{number}.parquet")
            pq.write_table(index_rows(f"shard-{number:06}.tar", number, rows, scores), parts[-1], compression="zstd")
        whole = place / "index.parquet"
        return {
            "index: join": spent_by(partial(merge_indexes, parts, whole, scores)),
            "index: read as rows": spent_by(lambda: sum(1 for _ in read_index(whole))),
        }
    finally:
        shutil.rmtree(place)
