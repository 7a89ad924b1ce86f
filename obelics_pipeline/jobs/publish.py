"""From tars to a finished run: ledgers are added up, look-ups and index are written, and last of all the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obelics_pipeline.core.commit import sweep
from obelics_pipeline.core.shards.index import COLUMNS, fixed_columns, merge_indexes
from obelics_pipeline.core.shards.manifest import (
    LookUpPart,
    RunManifest,
    index_is_whole,
    index_part,
    promises_of,
    publishes,
    write_manifest,
)
from obelics_pipeline.core.storage import draft, read_schema, remove
from obelics_pipeline.jobs.run_ledgers import run_ledgers
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.shard.look_ups import look_up_parts, make_look_ups
from obelics_pipeline.stages.shard.stage import shard_entries
from obelics_pipeline.stages.stage import Stage


def publish(job: Job, stages: Sequence[Stage]) -> None:
    """Make the tars of a job a finished run."""
    runner, in_tars = job.runner, sum(m.notes["documents"] for m in job.tars)
    job.ledgers = run_ledgers(stages, runner.ledgers, runner.failures, in_tars)
    look_ups = make_look_ups(job)
    _publish(job, look_up_parts(look_ups))
    sweep(job.folder.shards, job.tars)
    sweep(job.folder.look_up, look_ups)


def _publish(job: Job, look_up: tuple[LookUpPart, ...]) -> None:
    """Write the index and, last of all, the manifest that makes the folder a finished run.

    Where tars only went, those of before are still there: what the earlier run published is readable until now.
    """
    folder = job.folder
    notes: dict[str, Any] = {"failed_units": sorted(job.runner.failures, key=str)} | job.notes
    if job.sample is not None:
        notes["sample"] = job.sample
    shards, promises = shard_entries(job.tars), promises_of(job.config, job.columns)
    if not publishes(folder.path, shards, promises):
        _index(job)
    elif not index_is_whole(folder.path):
        job.runner.say(f"shard: {folder.index} is not what the manifest says; made again")
        _index(job)
    elif fixed_columns(read_schema(folder.index)) != COLUMNS:
        job.runner.say(f"shard: {folder.index} is of an earlier version; made again")
        _index(job)
    manifest = RunManifest(
        shards=shards,
        index=(index_part(folder.index, len(shards)),),
        promises=promises,
        ledgers=job.ledgers,
        notes=notes,
        look_up=look_up,
    )
    write_manifest(folder.path, manifest)
    folder.sync_results()


def _index(job: Job) -> None:
    """Join the parts of the index, and remove the manifest, which names other tars or another index."""
    with draft(job.folder.index) as path:
        merge_indexes([m.path(job.folder.shards, "index") for m in job.tars if m.files], path, job.columns)
        remove([job.folder.manifest])
