"""`obelics report`: reads a run's folder, and another's to compare with, and writes the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.check.assumptions import Assumptions
from obelics_pipeline.errors import UserError
from obelics_pipeline.report.compare import compare
from obelics_pipeline.report.duplicates import duplicates_of
from obelics_pipeline.report.examples import ParagraphExamples, dropped_documents
from obelics_pipeline.report.funnel import funnel_of, reason_order
from obelics_pipeline.report.histogram import RULE
from obelics_pipeline.report.opened import Opened, open_run
from obelics_pipeline.report.page import page
from obelics_pipeline.report.pictures import PictureCounts, Pictures
from obelics_pipeline.report.scores import ParagraphScores, document_scores
from obelics_pipeline.report.thresholds import document_thresholds, paragraph_thresholds
from obelics_pipeline.report.times import times_of
from obelics_pipeline.report.yields import in_all, yields_by
from obelics_pipeline.storage import Place, place, write_bytes
from obelics_pipeline.survey.images import survey_images
from obelics_pipeline.survey.paragraphs import survey_paragraphs

FILE, AGAINST_FILE = "report.html", "report-against.html"


def report(folder: str, against: str | None = None, output: str | None = None) -> Place:
    """Write the report of a run, or of two; returns where. Raises UserError for a folder that is no run's."""
    html = _html(folder, against)
    target = place(output) if output is not None else place(folder) / (FILE if against is None else AGAINST_FILE)
    try:
        if isinstance(target, Path):
            target.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(target, html.encode())
    except OSError as error:
        raise UserError(f"--output {target}: cannot be written: {error.strerror}; give another file") from None
    return target


def _html(folder: str, against: str | None) -> str:
    try:
        run = open_run(folder)
        return report_html(run) if against is None else comparison_html(run, _other(against))
    except FileNotFoundError:
        why = "a file of the run went while it was read: a run is at work there"
        raise UserError(f"{folder}: {why}; try again") from None
    except pa.ArrowException as error:
        why = str(error).splitlines()[0][:200]
        raise UserError(f"{folder}: a file of it cannot be read ({why}); give it back, or make the run anew") from None


def report_html(run: Opened) -> str:
    """The report of one run."""
    thresholds, of_paragraphs = document_thresholds(run.config), paragraph_thresholds(run.config)
    paragraphs, examples = ParagraphScores(), ParagraphExamples(run, dict(of_paragraphs))
    for table in survey_paragraphs(run.folder, run.documents):
        paragraphs.add(table)
        examples.add(table)
    vcpu_hour = Assumptions.model_fields["vcpu_hour"]
    return page(
        "page.html",
        run=run,
        total=in_all(run.documents),
        funnel=funnel_of(run),
        yields=[yields_by(run.documents, "site"), yields_by(run.documents, "language")],
        months=yields_by(run.documents, "month", rising=True),
        scores=document_scores(run.documents, thresholds),
        paragraph_scores=paragraphs.scores(dict(of_paragraphs)),
        roles=paragraphs.roles(),
        pictures=_pictures(run),
        duplicates=duplicates_of(run.documents),
        dropped=dropped_documents(run, thresholds, reason_order(run.config)),
        dropped_paragraphs=examples.examples(),
        times=times_of(run.events),
        price=vcpu_hour.default,
        price_source=vcpu_hour.description,
        rule=RULE,
    )


def comparison_html(run: Opened, other: Opened) -> str:
    """The report of two runs side by side."""
    return page("against.html", run=run, other=other, found=compare(run, other, funnel_of(run), funnel_of(other)))


def _other(path: str) -> Opened:
    try:
        return open_run(path)
    except UserError as error:
        raise UserError(f"--against {error}") from None


def _pictures(run: Opened) -> Pictures:
    """Of documents that met their images."""
    counts = PictureCounts(run.config.images)
    for table in survey_images(run.folder, _met(run)):
        counts.add(table)
    return counts.pictures()


def _met(run: Opened) -> pa.Table:
    files: Any = run.documents["file"]
    folders = (run.folder.assembled.name, run.folder.scored.name)
    return run.documents.filter(pc.is_in(pc.list_element(pc.split_pattern(files, "/"), 0), pa.array(folders)))
