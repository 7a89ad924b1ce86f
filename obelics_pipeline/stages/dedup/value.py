"""The stage `dedup`: groups of duplicates are found; what repeats over the corpus is dropped from documents."""

from __future__ import annotations

import functools

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document
from obelics_pipeline.stages.dedup.apply import lack
from obelics_pipeline.stages.dedup.deduplication import compares, deduplication_of
from obelics_pipeline.stages.extract.stage import measurer
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.stage import Stage


def work(job: Job) -> None:
    """Compare the extracted documents, and drop from them what repeats."""
    dedup, again = deduplication_of(job), job.config.dedup.measure_again
    dedup.compare(job.extracted)
    decide = functools.partial(_decide, config=job.config, everything=job.sample is not None) if again else lack
    job.documents = Documents(dedup.drop_repeated(job.extracted, decide), job.folder.dedup)


def _decide(document: Document, config: RunConfig, everything: bool) -> None:
    measurer(config.model_dump_json()).measure_again(document, everything)


DEDUP = Stage(
    name="dedup",
    title="Less what repeats over the corpus, decided again",
    label="in the corpus",
    work=work,
    active=compares,
    documents="dedup",
    decides_again=True,
    steps=("candidates", "links", "groups-", "members", "uses", "limits"),
    ledgers={"dedup": ("documents",)},
    reasons={
        "repeated_paragraph": "the same paragraph stands on many pages of its host",
        "overused_image_url": "its address is in too many documents",
        "no_image": "no image is left",
    },
)
