"""From tars to a finished run: ledgers are added up, look-ups and index are written, and last of all the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from obelics_pipeline.core.commit import Manifest, sweep
from obelics_pipeline.core.packed import Packed
from obelics_pipeline.core.shards.index import COLUMNS, fixed_columns, merge_indexes
from obelics_pipeline.core.shards.manifest import (
    IndexPart,
    LookUpPart,
    RunManifest,
    index_part,
    part_is_whole,
    promises_of,
    publishes,
    read_manifest,
    standing_manifest,
    write_manifest,
)
from obelics_pipeline.core.storage import draft, read_schema, remove
from obelics_pipeline.jobs.run_ledgers import run_ledgers
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.shard.index_parts import make_parts, plan_parts, sweep_index
from obelics_pipeline.stages.shard.look_ups import look_up_parts, make_look_ups
from obelics_pipeline.stages.shard.stage import shard_entries
from obelics_pipeline.stages.stage import Stage


def publish(job: Job, stages: Sequence[Stage]) -> None:
    """Make the tars of a job a finished run. Raises Stopped where a part of the index could not be made."""
    runner, in_tars = job.runner, sum(m.notes["documents"] for m in job.tars)
    job.ledgers = run_ledgers(stages, runner.ledgers, runner.failures, in_tars)
    look_ups = make_look_ups(job, stages[-1].name)
    _publish(job, stages[-1].name, look_up_parts(look_ups))
    sweep(job.folder.shards, job.tars)
    sweep(job.folder.look_up, look_ups)


def _publish(job: Job, stage: str, look_up: tuple[LookUpPart, ...]) -> None:
    """Write the index and, last of all, the manifest that makes the folder a finished run.

    Where tars only went, those of before are still there: what the earlier run published is readable until now.
    """
    folder = job.folder
    notes: dict[str, Any] = {"failed_units": sorted(job.runner.failures, key=str)} | job.notes
    if job.sample is not None:
        notes["sample"] = job.sample
    tars = Packed(m for m in job.tars if m.files)
    planned = plan_parts((m.notes["documents"] for m in tars), job.config.shard.index_rows)
    index = _standing(job, planned)
    if index is None:
        index = make_parts(job, tars, planned, stage) if len(planned) > 1 else (_one_file(job, tars, stage),)
    manifest = RunManifest(
        shards=shard_entries(job.tars),
        index=index,
        promises=promises_of(job.config, job.columns),
        ledgers=job.ledgers,
        notes=notes,
        look_up=look_up,
    )
    write_manifest(folder.path, manifest)
    folder.sync_results()
    sweep_index(folder.path, index)


def _standing(job: Job, planned: Mapping[str, int]) -> tuple[IndexPart, ...] | None:
    """The index of an earlier run, where it is whole, of these tars, and in the parts that it would be made in.

    `planned` says how many tars each of these has the rows of. None where it must be made.
    """
    folder, say = job.folder.path, job.runner.say
    if not publishes(folder, shard_entries(job.tars), promises_of(job.config, job.columns)):
        return None
    manifest = read_manifest(folder)
    each = job.runner.engine.map if len(manifest.index) > 1 else map
    whole = list(each(partial(part_is_whole, folder), manifest.index))
    damaged = [part.name for part, is_whole in zip(manifest.index, whole, strict=True) if not is_whole]
    for name in damaged:
        say(f"shard: {folder / name} is not what the manifest says; made again")
    if damaged:
        return None
    first = folder / manifest.index[0].name
    if fixed_columns(read_schema(first)) != COLUMNS:
        say(f"shard: {first} is of an earlier version; made again")
        return None
    return manifest.index if [(part.name, part.tars) for part in manifest.index] == list(planned.items()) else None


def _one_file(job: Job, tars: Sequence[Manifest], stage: str) -> IndexPart:
    """Write the index of a run that needs no parts, and remove the manifest, which names other tars or another one."""
    standing = standing_manifest(job.folder.path)
    if standing is not None and standing.only_index is None:
        job.runner.begin(stage, 1, 1)  # its parts go
    with draft(job.folder.index) as path:
        merge_indexes([m.path(job.folder.shards, "index") for m in tars], path, job.columns)
        remove([job.folder.manifest])
    return index_part(job.folder.index, len(tars))
