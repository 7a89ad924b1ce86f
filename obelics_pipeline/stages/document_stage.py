"""A stage that looks at each document by itself: documents in, documents out, with further columns or dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Attempt, Manifest, committed, sweep
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import MEASURING_ERROR, Document, has_failed, refuse_not_finite
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.origin import Origin
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.tables import DocumentWriter, read_kept, score_columns
from obelics_pipeline.core.unit import Unit, digest, label_of_unit
from obelics_pipeline.engines.shuffle import map_all
from obelics_pipeline.stages.cost import Cost
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.stage import Stage

Judge = Callable[[Document], str | None]


def document_stage(
    *,
    name: str,
    title: str,
    judge: Judge,
    columns: Sequence[str] = (),
    reasons: Mapping[str, str] | None = None,
    version: str = "",
    cost: Cost | None = None,
) -> Stage:
    """A stage that calls `judge` with each kept document.

    `judge` returns why the document is dropped, a word such as "shouting", or None; what it measures it puts into
    `document.scores` under the names of `columns`. Where it raises an error, that document alone is lost: it counts as
    failed. `reasons` are its words in words for people.

    A change of the file that the stage is in has its documents judged again. Where `version` is given, a change of it
    does so instead. `cost` says how `obelics check` learns what it costs: by default, by a few documents.

    >>> from obelics_pipeline import document_stage
    >>> def judge(document):
    ...     document.scores["letters"] = float(len(document.text()))
    ...     return "short" if document.scores["letters"] < 80 else None
    >>> stage = document_stage(name="letters", title="Less the shortest", judge=judge, columns=["letters"])
    >>> stage.name, stage.documents, stage.ledgers
    ('letters', 'letters', {'letters': ('documents',)})
    """
    measured = tuple(columns)

    def names(_config: RunConfig) -> Sequence[str]:
        return measured

    return Stage(
        name=name,
        title=title,
        work=JudgeDocuments(name, judge, measured, version),
        documents=name,
        ledgers={name: ("documents",)},
        columns=names,
        judges=True,
        reasons=dict(reasons or {}),
        cost=cost or Cost(),
    )


@dataclass(frozen=True)
class JudgeDocuments:
    """The work of such a stage. `origin` is where its value is found by workers; None where they can import it."""

    name: str
    judge: Judge
    columns: Sequence[str]
    version: str
    origin: Origin | None = None

    def __call__(self, job: Job) -> None:
        """Judge the documents of the stage before."""
        before, folder = job.documents, job.folder.path / self.name
        identity = self.version or (self.origin.sha256 if self.origin is not None else "")
        units = [_unit(self.name, m, [code_of(__name__), identity, list(self.columns)]) for m in before.units]
        judge = self.judge if self.origin is None else _FromOrigin(self.origin)
        work = partial(judge_unit, folder=folder, document_folder=before.folder, judge=judge, columns=self.columns)
        judged = map_all(job.runner, self.name, work, units, folder, self.name)
        sweep(folder, judged)
        job.documents = Documents(judged, folder)


@dataclass(frozen=True)
class _FromOrigin:
    """The judge of a stage that each worker makes for itself: functions of a file cannot be sent to them."""

    origin: Origin

    def __call__(self, document: Document) -> str | None:
        judge: Judge = self.origin.load().work.judge
        return judge(document)


def _unit(name: str, documents: Manifest, settings: Sequence[object]) -> Unit:
    partition = documents.notes.get("partition", documents.unit)
    id_ = digest(name, *settings, documents.unit, documents.files["data"]["sha256"])
    return Unit(name, id_, label_of_unit(documents.unit), {"documents": documents.unit, "partition": partition})


def judge_unit(
    unit: Unit, *, folder: Location, document_folder: Location, judge: Judge, columns: Sequence[str]
) -> Manifest:
    """Judge the kept documents of one unit."""
    source = committed(document_folder, unit.payload["documents"]).path(document_folder, "data")
    before, paragraph_scores = score_columns(source)
    ledger = Ledger("documents")
    with Attempt(folder, unit) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), [*before, *columns], paragraph_scores) as writer:
            for document in read_kept(source):
                _judged(document, judge, columns)
                ledger.count(document.reason, has_failed(document))
                writer.write(document)
        return attempt.commit([ledger], {"partition": unit.payload["partition"]})


def _judged(document: Document, judge: Judge, columns: Sequence[str]) -> None:
    try:
        document.reason = judge(document)
    except UserError:
        raise
    except Exception as error:  # a user's own code, at a document that it did not expect
        document.reason = f"{MEASURING_ERROR}_{type(error).__name__}"
    refuse_not_finite(document, columns)
