"""The stages of a run over what its folder holds, by another config: the documents that a run would then keep."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from obelics_pipeline.commit import Manifest, read_manifests, sweep, unit_names
from obelics_pipeline.config import RunConfig
from obelics_pipeline.config.yaml_file import dump_config
from obelics_pipeline.dealt import Dealt
from obelics_pipeline.display import Display
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.errors import Stopped
from obelics_pipeline.events import EventLog
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.job import Documents, Job
from obelics_pipeline.model_scores.document_models import model_columns
from obelics_pipeline.model_scores.stage import measure_units
from obelics_pipeline.rehearsal.extracted import extracted_unit, extracted_units, require_same_pages
from obelics_pipeline.rehearsal.known import answers, known_images, known_scores, score_unit
from obelics_pipeline.run import STAGES
from obelics_pipeline.shard.assemble import NOT_FETCHED
from obelics_pipeline.stages import StageRunner
from obelics_pipeline.storage import file_sha256, write_bytes, write_table


@dataclass(frozen=True)
class Unknown:
    """What a rehearsal had to do without: a run would learn it."""

    images: int  # references to images that the run never asked for; they count as failed
    scores: int  # documents that would be kept and that no model of the score stage has seen; they are kept


def rehearse(
    run: RunFolder, before: RunConfig, config: RunConfig, scratch: RunFolder, engine: Engine, display: Display
) -> Unknown:
    """Decide the documents of a run by another config; `scratch` is then as its folder would be, but for the tars.

    Exact for a run with --sample, which has measured every score and fetched every image, as far as both configs name
    the same models. What was decided by an equal config before is taken from `scratch`. Raises UserError for a config
    that differs in what is read from pages, and Stopped where a unit fails.
    """
    require_same_pages(before, config)
    events = EventLog(scratch.events)
    write_bytes(scratch.config, dump_config(config).encode())
    try:
        runner = StageRunner(engine, events, display, STAGES)
        job = Job(scratch, config, runner, sample=1.0)
        extracted = _extracted(run, before, config, scratch, runner)
        documents = job.dedup(extracted)
        documents = job.site(extracted, documents)
        documents = job.consent(documents, asked=run.consent_answers)
        found = Dealt(scratch.fetch)
        if config.fetch.enabled:
            images = known_images(run, before.fetch)
            found = answers(documents.units, documents.folder, images, scratch.exchange / "answers")
        documents = job.assemble(documents, found, job.dedup_images(documents, found))
        unknown = runner.ledgers["assemble"]["images"].failed[NOT_FETCHED]
        documents, unscored = _scored(run, job, documents)
        job.settle(documents)
        if runner.failures:
            raise Stopped(f"{runner.failures[0]['stage']}: {runner.failures[0]['reason']}")
        return Unknown(unknown, unscored)
    finally:
        events.close()


def _extracted(
    run: RunFolder, before: RunConfig, config: RunConfig, scratch: RunFolder, runner: StageRunner
) -> list[Manifest]:
    manifests = read_manifests(run.extract, unit_names(run.extract))
    units = extracted_units([manifests[name] for name in sorted(manifests)], before, config)
    work = partial(extracted_unit, folder=scratch.extract, run_folder=run.extract, before=before, config=config)
    extracted = runner.map("extract", work, units, scratch.extract)
    sweep(scratch.extract, extracted)
    return extracted


def _scored(run: RunFolder, job: Job, documents: Documents) -> tuple[Documents, int]:
    """The documents decided by what models had measured of them, and how many of those no model has seen."""
    columns, scratch = model_columns(job.config.score), job.folder
    if not columns:
        return job.score(documents), 0  # which takes back what a config with models had decided there
    known = scratch.exchange / "known-scores.parquet"
    write_table(known_scores(run, columns), known)
    lay = partial(score_unit, folder=scratch.scores, document_folder=documents.folder, scores=known, columns=columns)
    units = measure_units(documents.units, file_sha256(known))
    measured = job.runner.map("score", lay, units, scratch.scores)
    return job.decide(documents, measured), sum(m.notes["unseen"] for m in measured)
