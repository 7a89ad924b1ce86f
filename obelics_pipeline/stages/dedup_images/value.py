"""The stage `dedup-images`: which images look the same in too many documents."""

from __future__ import annotations

from collections.abc import Sequence

from obelics_pipeline.core.storage import Location, read_table
from obelics_pipeline.stages.cost import Cost
from obelics_pipeline.stages.dedup.deduplication import compares, deduplication_of
from obelics_pipeline.stages.fetch.result import results_from_table
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.stage import Stage


def work(job: Job) -> None:
    """Find them by their perceptual hashes, by extracted unit."""
    documents = job.documents
    job.overused = deduplication_of(job).phashes(documents.units, documents.folder, job.answers, _read_phashes)


def _read_phashes(paths: Sequence[Location]) -> dict[str, str]:
    results = (result for path in paths for result in results_from_table(read_table(path)))
    return {result.url: result.phash for result in results if result.phash is not None}


DEDUP_IMAGES = Stage(
    name="dedup-images",
    title="Images that look the same in too many documents",
    work=work,
    active=compares,
    steps=("phashes", "phash-limits"),
    reasons={
        "overused_image": "it looks the same in too many documents",
    },
    cost=Cost(sampled=False),
)
