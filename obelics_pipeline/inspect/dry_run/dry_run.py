"""A dry run: the stages of a run over what its folder holds, with another config; nothing is read or fetched again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from obelics_pipeline.core.commit import read_manifests, sweep, unit_names
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import file_sha256, write_bytes, write_table
from obelics_pipeline.core.unit import digest
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.inspect.dry_run.extracted import extracted_unit, extracted_units, require_same_pages
from obelics_pipeline.inspect.dry_run.known import answers, known_images, known_of_images, known_scores, score_unit
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.jobs.noted import note_stages
from obelics_pipeline.jobs.stages import MEETS_IMAGES, columns_of, names_of, stages_of
from obelics_pipeline.stages.extract.value import EXTRACT
from obelics_pipeline.stages.fetch.value import FETCH
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.score.stage import measure_units
from obelics_pipeline.stages.score.value import SCORE, decide
from obelics_pipeline.stages.shard.assemble import NOT_FETCHED
from obelics_pipeline.stages.shard.value import SHARD, settle


@dataclass(frozen=True)
class Unknown:
    """Counts of what a dry run could not know, and a run would find out."""

    images: int  # references to images that the run never asked for; they count as failed
    scores: int  # documents that would be kept and that no model of the score stage has seen; they are kept


def dry_run(
    run: RunFolder, before: RunConfig, config: RunConfig, scratch: RunFolder, engine: Engine, display: Display
) -> Unknown:
    """Decide the documents of a run by another config; `scratch` then holds what a run would write, except the tars.

    Exact for a run with --sample, which has measured every score and fetched every image, as far as both configs name
    the same models. What was decided by an equal config before is taken from `scratch`. Raises UserError for a config
    that differs in what is read from pages, and Stopped where a unit fails.
    """
    require_same_pages(before, config)
    events = EventLog(scratch.events)
    stages = stages_of(config)
    write_bytes(scratch.config, dump_config(config).encode())
    note_stages(scratch, stages, config)
    try:
        runner = StageRunner(engine, events, display, names_of(stages))
        columns = columns_of(stages, config)
        job = Job(scratch, config, runner, columns, sample=1.0, asked=run.consent_answers)
        known = _Known(run, before)
        for stage in stages:
            known.instead.get(stage.name, stage.do)(job)
        if runner.failures:
            raise Stopped(f"{runner.failures[0]['stage']}: {runner.failures[0]['reason']}")
        unknown = runner.ledgers[MEETS_IMAGES]["images"].failed[NOT_FETCHED]
        return Unknown(unknown, known.unscored)
    finally:
        events.close()


class _Known:
    """The results that a run's folder holds. They replace the stages that would read input, fetch, or load a model."""

    def __init__(self, run: RunFolder, before: RunConfig) -> None:
        self._run, self._before = run, before
        self.unscored = 0  # documents that no model of the run has seen
        self.instead: Mapping[str, Callable[[Job], None]] = {
            EXTRACT.name: self._extract,
            FETCH.name: self._fetch,
            SCORE.name: self._score,
            SHARD.name: _settle,
        }

    def _extract(self, job: Job) -> None:
        run, folder = self._run, job.folder.extract
        manifests = read_manifests(run.extract, unit_names(run.extract))
        units = extracted_units([manifests[name] for name in sorted(manifests)], self._before, job.config)
        work = partial(extracted_unit, folder=folder, run_folder=run.extract, before=self._before, config=job.config)
        extracted = job.runner.map(EXTRACT.name, work, units, folder)
        sweep(folder, extracted)
        job.extracted, job.documents = extracted, Documents(extracted, folder)

    def _fetch(self, job: Job) -> None:
        if job.config.fetch.enabled:
            images = known_images(self._run, self._before.fetch)
            documents = job.documents
            job.answers = answers(documents.units, documents.folder, images, job.folder.shuffled / "answers")

    def _score(self, job: Job) -> None:
        """The documents are decided by what models had measured of them."""
        if not SCORE.active(job.config):
            SCORE.do(job)  # it removes what a config with models had decided there
            return
        columns, measures, scratch = SCORE.columns(job.config), job.config.score.picture_measures, job.folder
        known = scratch.shuffled / "known-scores.parquet"
        write_table(known_scores(self._run, columns), known)
        of_images = scratch.shuffled / "known-of-images.parquet"
        write_table(known_of_images(self._run, measures), of_images)
        lay = partial(
            score_unit,
            folder=scratch.scores,
            document_folder=job.documents.folder,
            scores=known,
            of_images=of_images,
            columns=columns,
            measures=measures,
        )
        units = measure_units(job.documents.units, digest(file_sha256(known), file_sha256(of_images)))
        measured = job.runner.map(SCORE.name, lay, units, scratch.scores)
        decide(job, measured)
        self.unscored = sum(m.notes["unseen"] for m in measured)


def _settle(job: Job) -> None:
    settle(job)
