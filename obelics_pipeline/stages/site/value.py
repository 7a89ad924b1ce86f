"""The stage `site`: what the pages of a site say together of each of them."""

from __future__ import annotations

from collections.abc import Sequence

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.stages.bounded import Bounded, bounded
from obelics_pipeline.stages.dedup.deduplication import compares, deduplication_of
from obelics_pipeline.stages.extract.languages import check_languages
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.site.columns import require_score
from obelics_pipeline.stages.site.site_evidence import STAGE, SiteEvidence
from obelics_pipeline.stages.stage import Stage


def asks(config: RunConfig) -> bool:
    """Whether sites are looked at."""
    return config.site.active


def columns(config: RunConfig) -> Sequence[str]:
    """What is measured of the site of a document."""
    return config.site.columns if config.site.active else ()


def bounds(config: RunConfig) -> list[Bounded]:
    """The bounds of these columns."""
    return bounded("site.document", config.site.document)


def check(config: RunConfig) -> list[str]:
    """Raises UserError where the score that the evidence is about is not measured, and for unknown languages."""
    require_score(config)
    check_languages(bounds(config), config.language)
    return []


def work(job: Job) -> None:
    """Join to each document what is known of its site, and drop it where that is out of its bounds."""
    dedup = deduplication_of(job) if compares(job.config) else None
    evidence = SiteEvidence(job.folder, job.config, job.runner, dedup)
    before, folder = job.documents, SITE.folder(job.folder.path)
    job.documents = Documents(evidence.join(job.extracted, before.units, before.folder, folder), folder)


SITE = Stage(
    name=STAGE,
    title="With what the pages of its site say together",
    label="on its site",
    work=work,
    active=asks,
    check=check,
    documents="site",
    steps=("site-",),
    ledgers={STAGE: ("documents",)},
    columns=columns,
    bounds=bounds,
)
