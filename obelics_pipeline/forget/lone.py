"""Addresses and files that nothing but forgotten documents used, as keyed hashes.

The results of a fetch are held against the addresses of all documents: both are as many as the run has, so rows are
dealt out to buckets by their hash, and each bucket is compared by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.core.storage import Location, open_parquet, read_table
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.forget.place import Place
from obelics_pipeline.forget.steps import found, united
from obelics_pipeline.forget.values import Values, among, as_bytes, as_column, keys_in, keys_of, read_values
from obelics_pipeline.stages.fetch.result import ANSWER_SCHEMA

LONE, LONE_FILE = b"lone url", b"lone file"  # kinds of hashes: what only forgotten documents used
UNITS_PER_BUCKET = 32  # of extraction: some million addresses, which are sorted in memory
MOST_BUCKETS = 1024
BUCKET = "bucket"


def buckets_for(units: int) -> int:
    """How many buckets the addresses of so many units of extraction are dealt out to."""
    return min(units // UNITS_PER_BUCKET + 1, MOST_BUCKETS)


def dealt(keys: Values, buckets: int, named: bool) -> pa.Table:
    """Addresses with their buckets: `named` by a document, or fetched."""
    keys = np.unique(keys)
    words = np.frombuffer(as_bytes(keys), ">u4").reshape(-1, 4)[:, 0].astype(np.int64)
    names = pa.array([f"{number:04d}" for number in range(buckets)])
    columns = {
        BUCKET: names.take(pa.array(words % buckets)),
        "key": as_column(keys).cast(pa.binary()),
        "named": pa.array(np.full(len(keys), named)),
    }
    return pa.table(columns)


def unnamed(rows: pa.Table, _bucket: str) -> ReduceOutput:
    """The addresses of a bucket that were fetched and that no document names."""
    keys, named = keys_in(rows["key"]), rows["named"].to_numpy(zero_copy_only=False)
    left = keys[~named]
    lone = np.unique(left[~among(left, np.unique(keys[named]))])
    return ReduceOutput({"lone": pa.table({"key": as_column(lone).cast(pa.binary())})})


def fetched(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """The addresses of results, dealt out to buckets."""
    keyed, pieces = place.keyed(), list[Values]()
    for where in results(place.run.path, unit.payload["names"]):
        pieces.append(keys_of(keyed, LONE, read_table(where, ["url"])["url"].to_pylist()))
    keys = united(pieces)
    return found(unit, folder, {}, dealt(keys, unit.payload["buckets"], False) if keys.size else None)


def gone_files(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """The files that addresses gave which are lone or forgotten, or that are forgotten themselves."""
    keyed = place.keyed()
    gone = united([keys_of(keyed, LONE_FILE, files) for files, _ in _files(unit, place)])
    return found(unit, folder, {"files": gone})


def staying_files(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """Those of the files that go which another address gave as well."""
    keyed, gone, pieces = place.keyed(), read_values(place.work / unit.payload["gone"]), list[Values]()
    for _, others in _files(unit, place):
        keys = keys_of(keyed, LONE_FILE, others)
        pieces.append(keys[among(keys, gone)])
    return found(unit, folder, {"files": united(pieces)})


def _files(unit: Unit, place: Place) -> Iterator[tuple[set[str], set[str]]]:
    """The files that results name: those that go by this result, and those that do not."""
    keyed, known = place.keyed(), place.known()
    lone = read_values(place.work / unit.payload["lone"])
    for where in results(place.run.path, unit.payload["names"]):
        table = read_table(where, ["url", "sha256"])
        table = table.filter(table["sha256"].is_valid())
        urls = table["url"].to_pylist()
        is_lone = among(keys_of(keyed, LONE, urls), lone).tolist()
        gone, stays = set[str](), set[str]()
        for url, sha256, alone in zip(urls, table["sha256"].to_pylist(), is_lone, strict=True):
            (gone if alone or known.url(url) or known.sha256(sha256) else stays).add(sha256)
        yield gone, stays


def results(run: Location, names: Iterable[str]) -> Iterator[Location]:
    """Those of some Parquet files that have results of image URLs."""
    for name in names:
        with open_parquet(run / name) as source:
            is_one = set(source.schema_arrow.names) >= set(ANSWER_SCHEMA.names)
        if is_one:
            yield run / name
