"""The stage `score`: models look at documents with their images, and bounds decide."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from obelics_pipeline.core.commit import Manifest, sweep
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.near import did_you_mean
from obelics_pipeline.models.language_model.files import HubSilent
from obelics_pipeline.models.language_model.rubric import COLUMNS as JUDGE_COLUMNS
from obelics_pipeline.models.language_model.rubric import Rubric
from obelics_pipeline.stages.bounded import Bounded, bounded
from obelics_pipeline.stages.extract.languages import check_languages
from obelics_pipeline.stages.extract.measure import score_names
from obelics_pipeline.stages.fetch.removed_packs import bring_back
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.score.document_models import LoadDocumentModels, located, model_columns
from obelics_pipeline.stages.score.identity import check_bounds, models_identity
from obelics_pipeline.stages.score.picture_bounds import PictureBounds
from obelics_pipeline.stages.score.stage import count, decide_unit, decide_units, measure_unit, measure_units
from obelics_pipeline.stages.score.trial import try_models
from obelics_pipeline.stages.score.unsafe_images import Screen, arrived_images
from obelics_pipeline.stages.site.value import columns as site_columns
from obelics_pipeline.stages.stage import Stage

NAME = "score"


def looks(config: RunConfig) -> bool:
    """Whether a model is named that looks at documents."""
    return bool(columns(config))


def columns(config: RunConfig) -> Sequence[str]:
    """The score columns of the named models."""
    return model_columns(config.models)


def bounds(config: RunConfig) -> list[Bounded]:
    """The bounds of these columns."""
    return bounded("score.document", config.score.document)


def check(config: RunConfig) -> list[str]:
    """Raises UserError for bounds of columns that nothing measures, unknown languages, and models that are missing.

    A model that only the hub knows is a warning, for the driver of a run may reach it: `trial` has the last word.
    """
    check_bounds(config.models)
    check_languages(bounds(config), config.language)
    check_judge(config)
    if looks(config):
        try:
            models_identity(config.models)
        except HubSilent as error:
            return [str(error)]
    return []


def check_judge(config: RunConfig) -> None:
    """Raises UserError for a wrong rubric, and bounds of a score that no filter, site evidence or model measures."""
    judge = config.score.judge
    if judge is None:
        return
    Rubric(judge.prompt, tuple(judge.answers.items()))
    if config.stages:  # which scores a stage of a user's own leaves, only workers see
        return
    known = [*score_names(config), *site_columns(config), *columns(config)]
    for name in judge.only:
        if name not in known or name in JUDGE_COLUMNS:
            near = did_you_mean(name, known)
            raise UserError(f"config: score.judge.only.{name}: no such score{near}; valid are {', '.join(known)}")


def trial(job: Job) -> None:
    """Load the models once. Raises UserError for what is missing where they will work."""
    if looks(job.config):
        job.runner.say("score: the models are loaded once, to see that nothing is missing")
        try_models(job.runner.engine, job.config.models)


def work(job: Job) -> None:
    """Measure the documents, and decide them."""
    decide(job, _measure(job))


def decide(job: Job, measured: Sequence[Manifest]) -> None:
    """The documents with what models measured of them, less those that are out of the bounds."""
    folder, documents = job.folder.scored, job.documents
    limits, screen, pictures = job.config.score.document, Screen.of(job.config), PictureBounds.of(job.config)
    do = functools.partial(
        decide_unit,
        folder=folder,
        document_folder=documents.folder,
        score_folder=job.folder.scores,
        columns=columns(job.config),
        bounds=limits,
        measures=job.config.score.picture_measures,
        screen=screen,
        pictures=pictures,
    )
    units = decide_units(documents.units, measured, limits, screen, pictures)
    decided = job.runner.map("decide", do, units, folder, part_of=NAME)
    sweep(folder, decided)
    job.documents = Documents(decided, folder)


def image_ledger(document: Document) -> Ledger:
    """The images that a document had when it came here: kept, dropped with it or by themselves, or failed."""
    ledger = Ledger("images")
    for image in arrived_images(document):
        count(image, document, ledger)
    return ledger


def _measure(job: Job) -> Sequence[Manifest]:
    config, folder, documents = job.config.models, job.folder.scores, job.documents
    make = LoadDocumentModels(located(config).model_dump_json(), RunImages(job.folder.images))
    do = functools.partial(
        measure_unit,
        folder=folder,
        document_folder=documents.folder,
        columns=columns(job.config),
        measures=config.picture_measures,
    )
    units = measure_units(documents.units, models_identity(config))
    bring_back(job, NAME, units, folder)
    measured = job.runner.map_models(NAME, make, do, units, folder)
    sweep(folder, measured)
    return measured


SCORE = Stage(
    name=NAME,
    title="Looked at by models, text and images together",
    label="by models",
    work=work,
    active=looks,
    check=check,
    trial=trial,
    documents="scored",
    with_images=True,
    image_ledger=image_ledger,
    steps=("decide",),
    ledgers={"decide": ("documents", "images")},
    columns=columns,
    bounds=bounds,
    reasons={
        "unsafe_images": "the classifier calls too many of its images unsafe",
        "unsafe_image": "the classifier calls it unsafe",
        "unclassified": "the classifier could not look at it, so nobody knows whether it is safe",
    },
)
