"""Whether the look-ups of a run say what its index says, and whether an id is in it twice: found bucket by bucket."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from obelics_pipeline.core.shards.look_up import (
    COLUMNS,
    FOLDER,
    KEYS,
    ORDER,
    Hashes,
    bucket_of,
    fingerprint,
    is_whole,
    key_hashes,
    parts_of,
    read_look_up,
    rows_of,
)
from obelics_pipeline.core.shards.manifest import LookUpPart, RunManifest, shard_name
from obelics_pipeline.core.shards.source import DAMAGE, document_in
from obelics_pipeline.core.storage import Location, open_parquet, size_of

BATCH = 65_536  # rows of an index that are held at a time
IDS_AT_ONCE = 2**23  # whose hashes one worker holds: 64 MB
LISTED = 20  # repeated ids that are named
MODULUS = 2**64
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True)
class Bucket:
    """What was read of a bucket: its fingerprint, and the places that have an id's hash in common."""

    problem: str | None = None
    fingerprint: int = 0
    together: list[list[list[Any]]] = field(default_factory=list)  # shard, offset, length

    def to_json(self) -> list[Any]:
        """The values in their order: an engine may bring them from its workers as JSON."""
        return [self.problem, self.fingerprint, self.together]


def look_up_problems(folder: Location, manifest: RunManifest, index: Sequence[Location], each: Map) -> list[str]:
    """What is wrong with the look-ups, and which ids are in the index more than once, a line each.

    `index` are the files of the index, which can be read. `each` maps over buckets and over these: one is held at a
    time. Of a run without look-ups, which a copy may leave out, or with damaged ones, repeated ids are looked for in
    the index itself.
    """
    if all(size_of(folder / FOLDER / Path(part.name).name) is None for part in manifest.look_up):
        return repeated_ids(index, manifest.counts()["documents"], each)
    of_kinds = [parts_of(manifest, kind) for kind in KEYS]
    tasks = [(part, number, len(parts)) for parts in of_kinds for number, part in enumerate(parts)]
    buckets = [Bucket(*values) for values in each(partial(_bucket, folder), tasks)]
    found = [bucket.problem for bucket in buckets if bucket.problem is not None]
    if not found:
        sums = dict.fromkeys(KEYS, 0)
        for (part, _, _), bucket in zip(tasks, buckets, strict=True):
            sums[part.kind] += bucket.fingerprint
        of_index = list(each(_sums, index))
        for kind in KEYS:
            if (sum(of_file[kind] for of_file in of_index) - sums[kind]) % MODULUS:
                found.append(f"{FOLDER}: by {kind} it has other rows than the index")
    if found:
        return found + repeated_ids(index, manifest.counts()["documents"], each)
    ids = Counter[str]()
    for bucket in buckets:
        for places in bucket.together:
            ids.update(_ids_at(folder, places))
    return _lines(ids)


def _bucket(folder: Location, task: tuple[LookUpPart, int, int]) -> list[Any]:
    return _read_bucket(folder, task).to_json()


def _read_bucket(folder: Location, task: tuple[LookUpPart, int, int]) -> Bucket:
    part, number, buckets = task
    name = f"{FOLDER}/{part.name}"
    try:
        if not is_whole(folder, part):
            return Bucket(f"{name}: its sha256 is not the manifest's")
        rows = read_look_up(folder / FOLDER / Path(part.name).name)
    except (OSError, ValueError, pa.ArrowException) as error:
        return Bucket(f"{name}: cannot be read: {' '.join(str(error).split())[:200]}")
    hashes = rows["hash"].to_numpy()
    if rows.num_rows != part.rows or not rows.equals(rows.sort_by(ORDER)):
        return Bucket(f"{name}: its rows are not in order, or not as many as the manifest says")
    if (bucket_of(hashes, buckets) != number).any():
        return Bucket(f"{name}: has rows of another bucket")
    return Bucket(None, fingerprint(rows), list(_together(rows, hashes)) if part.kind == "id" else [])


def _together(rows: pa.Table, hashes: Hashes) -> Iterator[list[list[Any]]]:
    """The places of rows, sorted by their hash, that have it in common with others."""
    starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])) if len(hashes) else np.empty(0, np.int64)
    ends = np.append(starts[1:], len(hashes))
    for start, end in zip(starts[ends - starts > 1].tolist(), ends[ends - starts > 1].tolist(), strict=True):
        values = rows.slice(start, end - start).to_pylist()
        yield [[shard_name(value["shard"]), value["offset"], value["length"]] for value in values]


def _ids_at(folder: Location, places: Sequence[Sequence[Any]]) -> Iterator[str]:
    for shard, offset, length in places:
        try:
            yield document_in(folder, shard, offset, length).record.doc_id
        except DAMAGE:  # the check of its shard says so
            continue


def _sums(path: Location) -> dict[str, int]:
    """The fingerprints of the rows of a file of the index, as rows of each look-up."""
    found = dict.fromkeys(KEYS, 0)
    for table in _tables(path, COLUMNS):
        for kind in KEYS:
            try:
                found[kind] = (found[kind] + fingerprint(rows_of(table, kind))) % MODULUS
            except (ValueError, pa.ArrowException):  # names of shards or hashes that no run gives
                found[kind] += 1
    return found


def repeated_ids(index: Sequence[Location], documents: int, each: Map) -> list[str]:
    """Ids that are in the files of an index more than once, a line each: the hashes of all that are in one range are
    held at a time.
    """
    passes = documents // IDS_AT_ONCE + 1
    ids = Counter[str]()
    for counts in each(partial(_repeated, index, passes), range(passes)):
        ids.update(counts)
    return _lines(ids)


def _repeated(index: Sequence[Location], passes: int, number: int) -> Mapping[str, int]:
    """How often each repeated id is in the index, of those whose hash is in one of `passes` ranges."""
    hashes = [_in_range(ids, passes, number)[1] for ids in _ids(index)]
    values, counts = np.unique(np.concatenate(hashes) if hashes else np.empty(0, np.uint64), return_counts=True)
    twice = values[counts > 1]
    ids = Counter[str]()
    for names in _ids(index) if len(twice) else ():
        mine, of_names = _in_range(names, passes, number)
        ids.update(np.array(mine, object)[np.isin(of_names, twice)].tolist())
    return ids


def _in_range(ids: Sequence[str], passes: int, number: int) -> tuple[list[str], Hashes]:
    hashes = key_hashes(ids)
    here = np.flatnonzero(bucket_of(hashes, passes) == number)
    return [ids[i] for i in here.tolist()], hashes[here]


def _ids(index: Sequence[Location]) -> Iterator[list[str]]:
    for path in index:
        for table in _tables(path, ["doc_id"]):
            yield table["doc_id"].to_pylist()


def _tables(path: Location, columns: Sequence[str]) -> Iterator[pa.Table]:
    with open_parquet(path) as source:
        for batch in source.iter_batches(batch_size=BATCH, columns=list(columns)):
            yield pa.Table.from_batches([batch])


def _lines(ids: Mapping[str, int]) -> list[str]:
    repeated = sorted((doc_id, n) for doc_id, n in ids.items() if n > 1)
    return [f"the index: document {doc_id} is in it {n} times" for doc_id, n in repeated[:LISTED]]
