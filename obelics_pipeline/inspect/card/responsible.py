"""What the Croissant metadata of a corpus says for responsible use.

The properties are those of docs.mlcommons.org/croissant/docs/croissant-rai-spec.html. All of it is counted or follows
from the config. What only the owner knows, such as the social impact, is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from obelics_pipeline.inspect.card.contents import Contents, Counted
from obelics_pipeline.inspect.card.limits import known_limits
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.report import human
from obelics_pipeline.inspect.report.funnel import Funnel
from obelics_pipeline.inspect.report.opened import Run

SHOWN = 10  # of the most frequent languages and sites


def responsible(run: Run, funnel: Funnel, contents: Contents, said: Statement) -> dict[str, Any]:
    """The `rai:` properties of a finished run."""
    files = human.counted(len(contents.files), "file")
    found = {
        "rai:dataCollection": f"HTML pages of {files} of WARC records"
        + (", and the images that they show, fetched from their addresses." if run.config.fetch.enabled else "."),
        "rai:dataCollectionType": ["Web Scraping"],
        "rai:dataCollectionRawData": "WARC records; each document names its file, offset and length.",
        "rai:dataCollectionTimeframe": list(contents.captured or ()),
        "rai:dataCollectionMissingData": "An image that could not be fetched, or was not allowed, is null; so is a "
        "score that was not measured.",
        "rai:dataPreprocessingProtocol": list(_steps(funnel)),
        "rai:machineAnnotationTools": list(_tools(run, contents)),
        "rai:dataLimitations": list(known_limits(run, contents)),
        "rai:dataBiases": list(_biases(contents)),
        "rai:dataUseCases": [
            "Training of models of text and images, on documents in which both stand as on their page"
        ],
        "rai:personalSensitiveInformation": list(_personal(run)),
        "rai:dataReleaseMaintenancePlan": f"Removal requests: {said.contact}. What is removed is not in later releases."
        if said.contact
        else None,
    }
    return {name: value for name, value in found.items() if value}


def _steps(funnel: Funnel) -> Iterator[str]:
    for steps in ([funnel.records], funnel.documents, funnel.images):
        for step in steps:
            reasons = ", ".join(f"{reason.name} {reason.count:,}" for reason in step.reasons)
            yield f"{step.title}: {step.entered:,} in, {step.kept:,} kept" + (
                f"; not kept: {reasons}" if reasons else ""
            )


def _tools(run: Run, contents: Contents) -> Iterator[str]:
    yield "language: a model of language identification"
    if contents.page_types:
        yield "page_type: a classifier of kinds of pages"
    names = run.manifest.promises.score_names if run.manifest is not None else ()
    if names:
        yield f"scores: {', '.join(names)}; config.yaml says how each is measured"


def _biases(contents: Contents) -> Iterator[str]:
    for noun, rows in (("languages", contents.languages), ("sites", contents.sites)):
        if rows:
            yield f"Documents by {noun}: {_most(rows)}"


def _most(rows: Sequence[Counted]) -> str:
    total = sum(row.documents for row in rows)
    shown = ", ".join(f"{row.name or 'not known'} {human.share(row.documents, total)}" for row in rows[:SHOWN])
    return shown + (f", and {len(rows) - SHOWN:,} others" if len(rows) > SHOWN else "")


def _personal(run: Run) -> Iterator[str]:
    found = run.manifest.notes.get("personal_data", {}) if run.manifest is not None else {}
    for kind, counts in found.items():
        treatment = run.config.personal_data.treatment(kind)
        yield f"{kind}: {counts['values']:,} values in {counts['documents']:,} documents; treatment: {treatment}"
    yield "People are named and shown in texts and images, as on the pages."
