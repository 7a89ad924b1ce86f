"""The step that makes the look-ups of a run: the rows of its index, brought into buckets by the hash of URL and id.

Of a run with one bucket for each kind a unit reads the tars' parts of the index itself. Of a larger one the engine's
shuffle brings the rows of each bucket together, and a unit writes them as readers want them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.packed import Packed
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.shards.look_up import (
    COLUMNS,
    KEYS,
    SCHEMA,
    bucket_count,
    bucket_of,
    facts_of,
    rows_of,
    write_look_up,
)
from obelics_pipeline.core.shards.manifest import LookUpPart
from obelics_pipeline.core.storage import Location, read_table, read_tables, remove_tree
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.shuffle import map_all, partition_by, sources_of
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.shard.index_parts import tars_together
from obelics_pipeline.stages.shard.standing import disown_damaged, manifests_of

STEP = "look-up"
DEALT, BUCKETS = "look-up-rows", "look-up-buckets"  # below `shuffled`: rows on their way, gone once they are there
DEALT_ROWS = 2**17  # of the index that a unit deals out: some hundred tars
BUCKET = "bucket"
DEALT_SCHEMA = pa.schema([pa.field(BUCKET, pa.string()), *SCHEMA])


def make_look_ups(job: Job, stage: str) -> Sequence[Manifest]:
    """Make the buckets of the look-ups of a job's tars, unless they stand; their units, in order of kind and hash.

    `stage` is the one that they belong to on the command line. Raises Stopped where one could not be made.
    """
    folder, shuffled, tars = job.folder.look_up, job.folder.shuffled, Packed(tar for tar in job.tars if tar.files)
    units = look_up_units(job.tars)
    disown_damaged(units, folder, job.runner, "files of the look-up")
    buckets = len(units) // len(KEYS)
    done = len(manifests_of(folder, units)) == len(units)
    sources = Partitions(shuffled) if done or buckets == 1 else _by_bucket(job, stage, tars, buckets)
    names = [tar.unit for tar in tars]
    told = [u.payload | ({"pieces": sources.names(u.label)} if sources.files else {"tars": names}) for u in units]
    work = partial(look_up_unit, folder=folder, shards=job.folder.shards, pieces=sources.folder)
    units = [replace(unit, payload=payload) for unit, payload in zip(units, told, strict=True)]
    manifests = map_all(job.runner, STEP, work, units, folder, stage)
    forget_rows(shuffled)
    return manifests


def look_up_parts(manifests: Sequence[Manifest]) -> tuple[LookUpPart, ...]:
    """The entries of the buckets in the manifest of a run."""
    files = [(m.files["data"], m.notes) for m in manifests]
    return tuple(LookUpPart(name=f["name"], sha256=f["sha256"], bytes=f["bytes"], **notes) for f, notes in files)


def forget_rows(shuffled: Location) -> None:
    """Remove the rows that were on their way: of an unfinished step they are made again."""
    for name in (DEALT, BUCKETS):
        remove_tree(shuffled / name)


def look_up_units(tars: Sequence[Manifest]) -> list[Unit]:
    """A unit for each bucket of each kind. Its id follows from the units of the tars, which stay what they were where
    `obelics forget` took documents out of them.
    """
    buckets = bucket_count(sum(tar.notes["documents"] for tar in tars))
    of_all = digest(code_of(__name__), [tar.unit for tar in tars], buckets)
    return [
        Unit(STEP, digest(of_all, kind, bucket), f"{kind}-{bucket:04d}", {"kind": kind, "bucket": bucket})
        for kind in KEYS
        for bucket in range(buckets)
    ]


def _by_bucket(job: Job, stage: str, tars: Sequence[Manifest], buckets: int) -> Partitions:
    """The rows of all tars for all look-ups, by the label of the unit that writes them."""
    folder, code, left = job.folder.shuffled / DEALT, code_of(__name__), iter(tar.unit for tar in tars)
    sizes = tars_together((tar.notes["documents"] for tar in tars), DEALT_ROWS)
    told = [{"tars": list(islice(left, size)), "buckets": buckets} for size in sizes]
    units = [Unit(DEALT, digest(code, *payload.values()), "", payload) for payload in told]
    work = partial(dealt_unit, folder=folder, shards=job.folder.shards)
    dealt = map_all(job.runner, DEALT, work, units, folder, stage)
    return partition_by(job.runner, job.folder.shuffled / BUCKETS, sources_of(dealt, folder), BUCKET)


def dealt_unit(unit: Unit, *, folder: Location, shards: Location) -> Manifest:
    """Write the rows of some tars for all look-ups, each with the label of the unit that its bucket is."""
    parts = [committed(shards, name).path(shards, "index") for name in unit.payload["tars"]]
    index, tables = pa.concat_tables(read_tables(parts, list(COLUMNS))), []
    for kind in KEYS:
        rows = rows_of(index, kind)
        buckets = bucket_of(rows["hash"].to_numpy(), unit.payload["buckets"]).tolist()
        labels = pa.array([f"{kind}-{bucket:04d}" for bucket in buckets], pa.string())
        tables.append(rows.add_column(0, DEALT_SCHEMA.field(BUCKET), labels))
    with Attempt(folder, unit) as attempt:
        pq.write_table(
            pa.concat_tables(tables).cast(DEALT_SCHEMA), attempt.file("data", ".parquet"), compression="zstd"
        )
        return attempt.commit([])


def look_up_unit(unit: Unit, *, folder: Location, shards: Location, pieces: Location) -> Manifest:
    """Write one bucket, of the parts of the index of all tars, or of the pieces of a shuffle."""
    kind, tars = unit.payload["kind"], unit.payload.get("tars")
    if tars is None:
        tables = [read_table(pieces / name) for name in unit.payload["pieces"]]
    else:
        parts = [committed(shards, name).path(shards, "index") for name in tars]
        tables = [rows_of(index, kind) for index in read_tables(parts, list(COLUMNS))]
    rows = pa.concat_tables([SCHEMA.empty_table(), *(table.select(SCHEMA.names).cast(SCHEMA) for table in tables)])
    with Attempt(folder, unit) as attempt:
        path = attempt.file("data", ".parquet")
        write_look_up(rows, path)
        return attempt.commit([], facts_of(kind, path))
