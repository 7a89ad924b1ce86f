"""The stage `consent`: documents without those, and without the images, that an opt-out service names."""

from __future__ import annotations

from functools import partial

from obelics_pipeline.core.commit import sweep
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.engines.shuffle import map_all, partition_by, sources_of
from obelics_pipeline.stages.consent.service import Service
from obelics_pipeline.stages.consent.stage import (
    UNANSWERED,
    answer_unit,
    answer_units,
    obey_unit,
    obey_units,
    question_unit,
    question_units,
)
from obelics_pipeline.stages.cost import Cost
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.stage import Stage

NAME = "consent"


def asks(config: RunConfig) -> bool:
    """Whether there is a service to ask."""
    return config.consent.service is not None


def check(config: RunConfig) -> list[str]:
    """Raises UserError for a malformed address and a missing key."""
    consent = config.consent
    if consent.service is not None:
        Service(consent.service)
    hashes = [name for name, entry in consent.lists_of("images").items() if entry.kind == "hashes"]
    if hashes and config.fetch.reencode != "never":
        return [f"consent.lists.{n}: hashes are compared with what fetch.reencode makes of images" for n in hashes]
    return []


def work(job: Job) -> None:
    """Ask the service about the kept documents and their images, and obey its answers."""
    service, runner, documents = job.config.consent.service, job.runner, job.documents
    assert service is not None
    folder = job.folder.shuffled / "consent-questions"
    question = partial(question_unit, folder=folder, document_folder=documents.folder, config=service)
    questions = map_all(runner, "questions", question, question_units(documents.units, service), folder, NAME)
    sweep(folder, questions)
    asked = sources_of(questions, folder)
    partitions = partition_by(runner, job.folder.shuffled / "consent-partitions", asked, "bucket")
    folder = job.folder.consent_answers
    ask = partial(answer_unit, folder=folder, question_folder=partitions.folder, config=service, asked=job.asked)
    again = bool({"retryable", UNANSWERED} & set(job.retry))
    answered = runner.map_here("opt-outs", ask, answer_units(partitions, folder, service, again), folder, NAME)
    answers = partition_by(runner, job.folder.shuffled / "consent-answers", sources_of(answered, folder), "partition")
    obey = partial(
        obey_unit,
        folder=job.folder.consent,
        document_folder=documents.folder,
        answer_folder=answers.folder,
        config=service,
    )
    units = obey_units(documents.units, answers, service)
    obeyed = map_all(runner, NAME, obey, units, job.folder.consent, NAME)
    sweep(job.folder.consent, obeyed)
    job.documents = Documents(obeyed, job.folder.consent)


CONSENT = Stage(
    name=NAME,
    title="Less what is opted out, as a service says",
    label=NAME,
    work=work,
    active=asks,
    check=check,
    documents="consent",
    steps=("questions", "opt-outs", "consent-"),
    ledgers={NAME: ("documents",)},
    cost=Cost(sampled=False),
)
