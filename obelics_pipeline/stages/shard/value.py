"""The stage `shard`: one of each group of duplicates is kept, and documents with their images become tars."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path

from obelics_pipeline.core.commit import Manifest, sweep
from obelics_pipeline.core.storage import read_tables, remove
from obelics_pipeline.core.stored_revisions import take_home
from obelics_pipeline.stages.dedup.deduplication import compares, deduplication_of, settles
from obelics_pipeline.stages.fetch.removed_packs import bring_back
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.shard.cost import COST
from obelics_pipeline.stages.shard.index_parts import STEP
from obelics_pipeline.stages.shard.look_ups import STEP as LOOK_UP
from obelics_pipeline.stages.shard.stage import NO_ROWS, Rows, plan_tars, tar_unit
from obelics_pipeline.stages.shard.standing import disown_damaged, manifests_of
from obelics_pipeline.stages.stage import Stage

NAME = "shard"


def work(job: Job) -> None:
    """Write the documents that are left to tars; `jobs/publish.py` makes a finished run of these."""
    folder, left_out = job.folder.shards, _left_out(job, settle(job))
    units = plan_tars(job.documents.units, job.documents.folder, job.config, job.columns, left_out)
    disown_damaged(units, folder, job.runner)
    bring_back(job, NAME, units, folder)
    standing = manifests_of(folder, units)
    if not isinstance(folder, Path):
        take_home(folder, standing)  # a tar is read by its name in this folder, by programs of others as well
        standing = manifests_of(folder, units)
    if todo := len(units) - len(standing):
        job.runner.begin(NAME, todo, len(units))
        _withdraw(job, standing)
    do = functools.partial(
        tar_unit,
        folder=folder,
        assembled_folder=job.documents.folder,
        with_images=RunImages(job.folder.images).along,
    )
    job.tars = job.runner.map(NAME, do, units, folder)


def settle(job: Job) -> Sequence[Manifest]:
    """Keep the first passed document of each duplicate group.

    Returns what is left out of each unit of documents, in their order; nothing where they are not compared.
    """
    if compares(job.config):
        return deduplication_of(job).settle(job.documents.units, job.documents.folder)
    remove([job.folder.duplicates])
    return deduplication_of(job).settle_ids(job.documents.units, job.documents.folder) if settles(job.config) else []


def _left_out(job: Job, settled: Sequence[Manifest]) -> Iterator[Rows]:
    """The rows of duplicates of each unit of documents, in their order; a few units' are read at a time."""
    if not settled:
        return repeat(NO_ROWS, len(job.documents.units))
    folder = job.folder.shuffled / "settled"
    tables = read_tables([m.path(folder, "data") for m in settled if m.notes["rows"]["data"]], ["row"])
    return (next(tables)["row"].to_numpy() if m.notes["rows"]["data"] else NO_ROWS for m in settled)


def _withdraw(job: Job, standing: Iterable[Manifest]) -> None:
    """Remove the manifest of an earlier run before tars are written, because their names are used again.

    What is made again is read back, though its bytes may be the same.
    """
    remove([job.folder.validated, job.folder.manifest, job.folder.index])
    sweep(job.folder.shards, standing)


SHARD = Stage(
    name=NAME,
    title="Compared with each other: one of each group of duplicates is kept",
    work=work,
    steps=("passed", "alive", "firsts-", "lost-", "settled", "changed", STEP, LOOK_UP),
    ledgers={"settled": ("documents", "images")},
    reasons={
        "duplicate_url": "another capture of the same page is kept",
        "duplicate_text": "nearly the same text is kept",
        "duplicate_image_set": "a document with the same images is kept",
    },
    with_images=True,
    cost=COST,
    preload=("datasets",),  # reads the shards back; seconds to import, and skipped where it is not installed
)
