"""The extract stage: a byte range of a WARC becomes measured, decided documents and a row for every record."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.commit import Attempt, Manifest, read_manifests, unit_names
from obelics_pipeline.config import RunConfig
from obelics_pipeline.document import Document, ImageNode, Node, TextNode, make_doc_id
from obelics_pipeline.errors import UserError
from obelics_pipeline.extract.measure import Measurer, decision_config, measurement_config, score_names
from obelics_pipeline.extract.page import ExtractedPage, PageRejected, extract_page
from obelics_pipeline.extract.publication import is_ahead
from obelics_pipeline.extract.safety import Safety, safety_config, safety_of
from obelics_pipeline.extract.split import split_nodes
from obelics_pipeline.extract.suspects import Suspects
from obelics_pipeline.forgotten import FORGOTTEN, Forgotten, blank, forget_images
from obelics_pipeline.ledger import Ledger
from obelics_pipeline.personal_data.counts import Tally
from obelics_pipeline.read.page import Page, Skipped
from obelics_pipeline.read.ranges import ReadTask
from obelics_pipeline.read.records import read_task
from obelics_pipeline.storage import Place, read_bytes, scratch_of
from obelics_pipeline.tables import DocumentWriter, read_documents
from obelics_pipeline.unit import Unit, digest

STAGE = "extract"
MEASURED_AT_ONCE = 16  # documents: so that the language model's tables stay in the processor's cache for that long
MEASURING_ERROR = "measuring_error"  # starts the reason of a document that a filter could not measure
VERSION = 4  # raise it when the same page would give other documents: finished units are then redone

RECORDS = pa.schema(
    [
        ("url", pa.string()),
        ("warc_filename", pa.string()),
        ("warc_record_offset", pa.int64()),
        ("warc_record_length", pa.int64()),
        ("outcome", pa.string()),  # kept, dropped or failed
        ("reason", pa.string()),
        ("documents", pa.int32()),
    ]
)


def extract_units(
    tasks: Sequence[ReadTask], config: RunConfig, everything: bool = False, forgotten: str = ""
) -> list[Unit]:
    """One unit per byte range. Its id follows from the range, from what is measured and from what is decided.

    `everything` measures documents beyond their first drop, for thresholds to be chosen on. `forgotten` is the digest
    of the tombstones of other corpora that are obeyed.
    """
    measured = digest(
        VERSION,
        everything,
        config.reading.model_dump(mode="json", exclude={"unit_bytes", "pointer_rows", "pointer_root"}),
        config.extract.model_dump(mode="json"),
        measurement_config(config),
        *([{"forgotten": forgotten}] if forgotten else []),
        *safety_config(config),  # nothing, and so the ids of before, where nothing of it is asked for
    )
    decided = digest(decision_config(config))
    return [
        Unit(STAGE, digest(measured, decided, _range(task)), task.label, _payload(task, measured, everything))
        for task in tasks
    ]


def _range(task: ReadTask) -> list[Any]:
    """What a task reads, wherever it lies and whenever it was put there (see RunFolder.changed_inputs)."""
    return [task.kind, task.name, task.size, task.start, task.end]


def _payload(task: ReadTask, measured: str, everything: bool) -> dict[str, Any]:
    return {"task": task.to_json(), "measured": digest(measured, _range(task)), "everything": everything}


def extract_unit(unit: Unit, *, folder: Place, config: RunConfig, forgotten: Forgotten | None = None) -> Manifest:
    """Read, extract, measure and decide one unit; what is forgotten is neither extracted nor kept.

    Where only thresholds of documents changed since an earlier run, the stored documents are decided anew and no
    page is read. Raises OSError where the source cannot be read or the output not be written.
    """
    measuring = measurer(config.model_dump_json())
    safety, tally = safety_of(config.model_dump_json()), Tally(config.personal_data.columns)
    earlier = _earlier(folder, unit)
    with Attempt(folder, unit) as attempt:
        documents = Ledger("documents")
        if earlier is not None:
            source = _decide_again(earlier.path(folder, "data"), measuring, unit)
            write_documents(tally.passing(source), attempt.file("data", ".parquet"), config, documents)
            records = earlier.ledgers["records"]
            attempt.file("records", ".parquet").write_bytes(read_bytes(earlier.path(folder, "records")))
        else:
            records = Ledger("records")
            with Suspects(scratch_of(folder) / f".tmp-suspects-{unit.label}", unit.crashes) as suspects:
                rows: list[dict[str, Any]] = []
                found = _documents(unit, config, safety, records, rows, suspects, forgotten)
                source = _measure(found, measuring, unit)
                if forgotten is not None:
                    source = _less_forgotten(source, forgotten)
                write_documents(tally.passing(source), attempt.file("data", ".parquet"), config, documents)
                suspects.forget()
            pq.write_table(pa.Table.from_pylist(rows, RECORDS), attempt.file("records", ".parquet"), compression="zstd")
        notes = {"measured": unit.payload["measured"]}
        if config.personal_data.enabled:
            notes["personal_data"] = tally.to_json()
        return attempt.commit([records, documents], notes)


def _earlier(folder: Place, unit: Unit) -> Manifest | None:
    """A committed unit of the same range in which the same things were measured."""
    for manifest in read_manifests(folder, unit_names(folder, unit.label)).values():
        if manifest.notes.get("measured") == unit.payload["measured"]:
            return manifest
    return None


@functools.lru_cache(maxsize=1)
def measurer(config_json: str) -> Measurer:
    """The measurer of a config, made once per process."""
    config = RunConfig.model_validate_json(config_json)
    made = Measurer(config.filters, config.language)
    # Models and lists are loaded now, so that a worker that is killed while it loads them accuses no page.
    nodes: list[Node] = [TextNode("What is written here is of no account, but it is read.")]
    made.measure(Document("", "", "", 0, 0, nodes), everything=True)
    return made


def _measure(documents: Iterator[Document], measurer: Measurer, unit: Unit) -> Iterator[Document]:
    everything = unit.payload["everything"]
    at_once = 1 if unit.crashes else MEASURED_AT_ONCE  # page by page where `Suspects` must know which one is at hand
    while batch := list(islice(documents, at_once)):
        for document in batch:
            if document.reason == FORGOTTEN:
                continue
            try:
                measurer.measure(document, everything=everything)
            except UserError:
                raise
            except Exception as error:  # a filter of somebody else's, or ours, at a document it did not expect
                document.reason = f"{MEASURING_ERROR}_{type(error).__name__}"
        yield from batch


def _decide_again(path: Place, measurer: Measurer, unit: Unit) -> Iterator[Document]:
    for document in read_documents(path):
        if document.reason != FORGOTTEN:
            measurer.decide(document, everything=unit.payload["everything"])
        yield document


def _less_forgotten(documents: Iterator[Document], forgotten: Forgotten) -> Iterator[Document]:
    """Documents of which those whose text was taken back are left blank."""
    for document in documents:
        if document.reason != FORGOTTEN and forgotten.text(document.text()):
            blank(document, forgotten.name(document.doc_id))
        yield document


def write_documents(documents: Iterable[Document], path: Path, config: RunConfig, ledger: Ledger) -> None:
    """Write measured documents as the stage's file, and count what became of each."""
    with DocumentWriter(path, score_names(config), list(config.filters.paragraph)) as writer:
        for document in documents:
            if document.reason is None:
                ledger.keep()
            else:
                _count(ledger, document.reason, failed=document.reason.startswith(MEASURING_ERROR))
            writer.write(document)


def _documents(
    unit: Unit,
    config: RunConfig,
    safety: Safety,
    ledger: Ledger,
    rows: list[dict[str, Any]],
    suspects: Suspects,
    forgotten: Forgotten | None,
) -> Iterator[Document]:
    """The documents of a unit's pages; what becomes of each record is counted in `ledger` and listed in `rows`."""
    task = ReadTask.from_json(unit.payload["task"])

    def add_row(item: Page | Skipped, reason: str | None, outcome: str, documents: int) -> None:
        row = _record_row(item, safety.stored_url(item.url), task.name, reason, outcome, documents)
        gone = forgotten is not None and item.url is not None and forgotten.url(item.url)
        rows.append(blank_record(row) if gone or reason == FORGOTTEN else row)

    for item in read_task(task, config.reading):
        if isinstance(item, Skipped):
            _count(ledger, item.reason, item.failed)
            if not item.counted_only:
                add_row(item, item.reason, "failed" if item.failed else "dropped", 0)
            continue
        name = f"{item.offset}.{item.ordinal}"
        if forgotten is not None and forgotten.url(item.url):
            outcome: list[Document] | Refused = Refused(FORGOTTEN)
        else:
            suspects.touch(name)
            guilty = name in suspects.guilty
            outcome = Refused("worker_died", failed=True) if guilty else page_documents(item, config, safety)
        if forgotten is not None and not isinstance(outcome, Refused):
            outcome = _remembered(outcome, forgotten)
        if isinstance(outcome, Refused):
            _count(ledger, outcome.reason, outcome.failed)
            add_row(item, outcome.reason, "failed" if outcome.failed else "dropped", 0)
            continue
        ledger.keep()
        add_row(item, None, "kept", len(outcome))
        yield from outcome


def _remembered(documents: list[Document], forgotten: Forgotten) -> list[Document] | Refused:
    """The documents of a page, those that were taken back by their id left blank, and less such images."""
    gone = [forgotten.document(document.doc_id) for document in documents]
    if all(gone):
        return Refused(FORGOTTEN)
    for document, is_gone in zip(documents, gone, strict=True):
        if is_gone:
            blank(document, forgotten.name(document.doc_id))
        else:
            forget_images(document, forgotten)
    return documents


def blank_record(row: dict[str, Any]) -> dict[str, Any]:
    """The row of a record without what tells which one it is."""
    return row | {"url": None, "warc_filename": None, "warc_record_offset": None, "warc_record_length": None}


def _count(ledger: Ledger, reason: str, failed: bool) -> None:
    if failed:
        ledger.fail(reason)
    else:
        ledger.drop(reason)


def _record_row(
    item: Page | Skipped, url: str | None, source: str, reason: str | None, outcome: str, documents: int
) -> dict[str, Any]:
    return {
        "url": url,
        "warc_filename": item.warc_filename if isinstance(item, Page) else source,
        "warc_record_offset": item.offset,
        "warc_record_length": item.length,
        "outcome": outcome,
        "reason": reason,
        "documents": documents,
    }


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a page gave no document: a rule, or a failure of ours."""

    reason: str
    failed: bool = False


def page_documents(page: Page, config: RunConfig, safety: Safety) -> list[Document] | Refused:
    """The documents of one page, at least one, or why there is none."""
    blocked = safety.page_reason(page.url)
    if blocked is not None:
        return Refused(blocked)
    try:
        extracted = extract_page(page.html, page.url, config.extract)
    except PageRejected as rejected:
        return Refused(rejected.reason)
    except Exception as error:  # a bad page costs a page, whatever it found in us
        return Refused(f"extraction_error_{type(error).__name__}", failed=True)
    if config.reading.honour_noai and "noai" in extracted.robots:
        return Refused("noai_meta")
    if not any(isinstance(node, TextNode) and node.text for node in extracted.nodes):
        return Refused("no_text")
    if config.reading.honour_noai and "noimageai" in extracted.robots:
        for node in extracted.nodes:
            if isinstance(node, ImageNode):
                node.reason = "noimageai_meta"
    safety.judge_images(extracted.nodes)
    parts = split_nodes(extracted.nodes, config.extract)
    documents = [_document(page, extracted, nodes, i, len(parts)) for i, nodes in enumerate(parts)]
    for document in documents:
        safety.clean(document, extracted.html_lang)
    return documents


def _document(page: Page, extracted: ExtractedPage, nodes: list[Node], part: int, parts: int) -> Document:
    day = extracted.published
    general: dict[str, Any] = {
        "warc_date": page.warc_date,
        "charset": page.charset,
        "title": extracted.title,
        "main_content_confidence": extracted.main_content_confidence,
        "published": None if day is None or is_ahead(day, page.warc_date) else day.isoformat(),
        **(extracted.links.to_json() if extracted.links is not None else {}),
    }
    if parts > 1:
        general |= {"part": part, "parts": parts}
    return Document(
        doc_id=make_doc_id(page.warc_filename, page.offset, page.ordinal, part),
        url=page.url,
        warc_filename=page.warc_filename,
        warc_record_offset=page.offset,
        warc_record_length=page.length,
        nodes=nodes,
        general={key: value for key, value in general.items() if value is not None},
    )
