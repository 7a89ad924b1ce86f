"""`obelics report`: reads a run's folder, and another's to compare with, and writes the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.errors import DISK_FULL, Damaged, Stopped, UserError
from obelics_pipeline.core.storage import Location, location, size_of, write_bytes
from obelics_pipeline.inspect.report.compare import compare
from obelics_pipeline.inspect.report.duplicates import duplicates_of
from obelics_pipeline.inspect.report.examples import ParagraphExamples, dropped_documents
from obelics_pipeline.inspect.report.funnel import funnel_of, reason_order
from obelics_pipeline.inspect.report.histogram import RULE
from obelics_pipeline.inspect.report.opened import Opened, open_run
from obelics_pipeline.inspect.report.page import page
from obelics_pipeline.inspect.report.pictures import PictureCounts, Pictures
from obelics_pipeline.inspect.report.reasons import words_of
from obelics_pipeline.inspect.report.scores import ParagraphScores, document_scores
from obelics_pipeline.inspect.report.sites import fallen_sites
from obelics_pipeline.inspect.report.thresholds import document_thresholds, paragraph_thresholds
from obelics_pipeline.inspect.report.times import times_of
from obelics_pipeline.inspect.report.yields import in_all, yields_by
from obelics_pipeline.inspect.run_tables.images import image_tables
from obelics_pipeline.inspect.run_tables.paragraphs import paragraph_tables
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.stages.assumptions import Assumptions

FILE, AGAINST_FILE = "report.html", "report-against.html"


def report(folder: str, against: str | None = None, output: str | None = None) -> Location:
    """Write the report of a run, or of two; returns its path or URL.

    Raises UserError for a folder that is not a run, Damaged for a file of the run with other content than was written.
    """
    html = _html(folder, against)
    target = location(output) if output is not None else location(folder) / (FILE if against is None else AGAINST_FILE)
    try:
        if isinstance(target, Path):
            target.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(target, html.encode())
    except OSError as error:
        if error.errno in DISK_FULL:
            raise Stopped(f"--output {target}: {error.strerror}; make room, then run the same command again") from None
        raise UserError(f"--output {target}: cannot be written: {error.strerror}; give another file") from None
    return target


def _html(folder: str, against: str | None) -> str:
    try:
        run = open_run(folder)
        return report_html(run) if against is None else comparison_html(run, _other(against))
    except (Damaged, FileNotFoundError) as error:
        if isinstance(error, Damaged) and all(size_of(location(where)) is not None for where in error.locations):
            raise
        why = "a file of the run went while it was read: a run is at work there"
        raise UserError(f"{folder}: {why}; try again") from None
    except pa.ArrowException as error:
        why = str(error).splitlines()[0][:200]
        raise UserError(
            f"{folder}: a file of it cannot be read ({why}); restore it, or run the command of the run again"
        ) from None


def report_html(run: Opened) -> str:
    """The report of one run."""
    stages = stages_in(run.folder)
    thresholds, of_paragraphs = document_thresholds(stages, run.config), paragraph_thresholds(run.config)
    judged = {name for stage in stages if stage.judges for name in stage.columns(run.config)}
    paragraphs, examples = ParagraphScores(), ParagraphExamples(run, dict(of_paragraphs))
    for table in paragraph_tables(run.folder, run.documents):
        paragraphs.add(table)
        examples.add(table)
    vcpu_hour = Assumptions.model_fields["vcpu_hour"]
    return page(
        "page.html",
        words=words_of(stages),
        run=run,
        total=in_all(run.documents),
        funnel=funnel_of(run),
        yields=[yields_by(run.documents, column) for column in ("site", "language", "page_type")],
        fallen_columns=[name for name in run.config.site.columns if name in run.documents.column_names],
        fallen=fallen_sites(run),
        months=yields_by(run.documents, "month", rising=True),
        scores=document_scores(run.documents, thresholds, everything=run.sample is not None, judged=judged),
        paragraph_scores=paragraphs.scores(dict(of_paragraphs)),
        roles=paragraphs.roles(),
        pictures=_pictures(run),
        duplicates=duplicates_of(run.documents),
        dropped=dropped_documents(run, thresholds, reason_order(stages, run.config)),
        dropped_paragraphs=examples.examples(),
        times=times_of(run.events, stages),
        price=vcpu_hour.default,
        price_source=vcpu_hour.description,
        rule=RULE,
    )


def comparison_html(run: Opened, other: Opened) -> str:
    """The report of two runs side by side."""
    stages = list({stage.name: stage for stage in (*stages_in(run.folder), *stages_in(other.folder))}.values())
    found = compare(run, other, funnel_of(run), funnel_of(other))
    return page("against.html", words=words_of(stages), run=run, other=other, found=found)


def _other(path: str) -> Opened:
    try:
        return open_run(path)
    except UserError as error:
        raise UserError(f"--against {error}") from None


def _pictures(run: Opened) -> Pictures:
    """Of documents that met their images."""
    counts = PictureCounts(run.config.images)
    for table in image_tables(run.folder, _met(run)):
        counts.add(table)
    return counts.pictures()


def _met(run: Opened) -> pa.Table:
    files: Any = run.documents["file"]
    folders = [stage.documents for stage in stages_in(run.folder) if stage.with_images and stage.documents]
    return run.documents.filter(pc.is_in(pc.list_element(pc.split_pattern(files, "/"), 0), pa.array(folders)))
