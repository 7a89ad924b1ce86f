"""The extract stage: a range of a WARC, or of rows, becomes measured, decided documents and a row for every record."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Attempt, Manifest, read_manifests
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import (
    MEASURING_ERROR,
    Document,
    ImageNode,
    Node,
    TextNode,
    has_failed,
    make_doc_id,
)
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.storage import Location, read_table, scratch_of
from obelics_pipeline.core.tables import DocumentWriter, read_documents
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.policy.forgotten import FORGOTTEN, Forgotten, blank, forget_images
from obelics_pipeline.policy.opt_outs.lists import NO_LISTS, OPT_OUT, OptOuts
from obelics_pipeline.policy.opt_outs.signals import crawl_signals
from obelics_pipeline.policy.opt_outs.tdm import page_tdm
from obelics_pipeline.policy.personal_data.budget import TooManyLooks
from obelics_pipeline.policy.personal_data.clean import UNSEARCHED
from obelics_pipeline.policy.personal_data.counts import PersonalDataTally
from obelics_pipeline.stages.extract.measure import Measurer, decision_config, measurement_config, score_names
from obelics_pipeline.stages.extract.page import ExtractedPage, PageRejected, extract_page
from obelics_pipeline.stages.extract.publication import is_ahead
from obelics_pipeline.stages.extract.refused import Refused
from obelics_pipeline.stages.extract.row_documents import CARRIED, carried_rows, row_documents
from obelics_pipeline.stages.extract.safety import Safety, safety_config, safety_of
from obelics_pipeline.stages.extract.split import split_nodes
from obelics_pipeline.stages.extract.suspects import Suspects
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.ranges import ReadTask
from obelics_pipeline.stages.read.raw_record import NO_RECORD, TRUNCATED
from obelics_pipeline.stages.read.records import read_task
from obelics_pipeline.stages.read.robots import DISALLOWED, RobotsCaptures
from obelics_pipeline.stages.rows.read import Row, read_rows
from obelics_pipeline.stages.rows.row_document import RowDocument
from obelics_pipeline.stages.rows.row_error import NO_TEXT, UNREADABLE_REST, RowError
from obelics_pipeline.stages.rows.task import RowsTask

STAGE = "extract"
NO_UNITS: Mapping[str, Sequence[str]] = MappingProxyType({})
MEASURED_AT_ONCE = 16  # documents: their languages first, while the model's tables stay in the processor's cache

INCOMPLETE_FILE = {  # reasons in the ledger of a file that say that the rest of it is missing
    TRUNCATED: "the file ends within a record; what comes before it was read, what should follow is missing",
    NO_RECORD: "no WARC record can be read in the file",
    UNREADABLE_REST: "the file cannot be read to its end; what comes before was read, what should follow is missing",
}

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
    tasks: Sequence[ReadTask],
    config: RunConfig,
    everything: bool = False,
    opt_outs: OptOuts = NO_LISTS,
    robots: RobotsCaptures | None = None,
    forgotten: str = "",
    earlier: Mapping[str, Sequence[str]] = NO_UNITS,
) -> list[Unit]:
    """One unit per byte range. Its id follows from the range, from what is measured and from what is decided.

    `everything` measures documents beyond their first drop, for thresholds to be chosen on. `forgotten` is the digest
    of the tombstones of other corpora that are obeyed. `earlier` names the units that are committed, by label.
    """
    measured = digest(
        code_of(__name__),
        everything,
        redacted(config.reading.model_dump(mode="json", exclude={"unit_bytes", "pointer_rows", "pointer_root"})),
        config.extract.model_dump(mode="json"),
        measurement_config(config),
        *([{"forgotten": forgotten}] if forgotten else []),
        *safety_config(config),  # nothing, and so the ids of before, where nothing of it is asked for
        *_consent_config(config, robots),
    )
    lists = opt_outs.identity("pages")
    decided = digest(decision_config(config), *([lists] if lists else []))
    return [
        Unit(
            STAGE,
            digest(measured, decided, _range(task)),
            task.label,
            _payload(task, measured, everything) | {"earlier": list(earlier.get(task.label, ()))},
            input=_reads(task),
        )
        for task in tasks
    ]


def _consent_config(config: RunConfig, robots: RobotsCaptures | None) -> list[Any]:
    """The settings of `consent` that are measured; empty without any, so that unit ids stay those of before."""
    licence, crawl = config.consent.licence, config.consent.crawl
    active: dict[str, Any] = {"licence": licence.active, "record": crawl.record, "tdm": crawl.tdm == "drop"}
    if robots is not None:
        active |= {"robots": crawl.robots == "drop", "captures": robots.key, "tokens": list(robots.tokens)}
    return [active] if any(active.values()) else []


def _range(task: ReadTask) -> list[Any]:
    """The identity of the bytes that a task reads, whatever their folder and date (see RunFolder.changed_inputs)."""
    return [task.kind, task.name, task.size, task.start, task.end]


def _reads(task: ReadTask) -> dict[str, int]:
    """How much a task reads: bytes of a WARC, and of a file of rows that are not counted, or else rows."""
    in_bytes = task.kind == "warc" or (task.kind == "rows" and (task.start, task.end) == (0, task.size))
    return {"bytes" if in_bytes else "rows": task.end - task.start}


def _payload(task: ReadTask, measured: str, everything: bool) -> dict[str, Any]:
    return {"task": task.to_json(), "measured": digest(measured, _range(task)), "everything": everything}


def extract_unit(
    unit: Unit,
    *,
    folder: Location,
    config: RunConfig,
    opt_outs: OptOuts = NO_LISTS,
    robots: RobotsCaptures | None = None,
    forgotten: Forgotten | None = None,
) -> Manifest:
    """Read, extract, measure and decide one unit; a page that `opt_outs` name, or is forgotten, is not looked at.

    Where only thresholds of documents changed since an earlier run, or opt-out lists got longer, the stored documents
    are decided again and no page is read. Raises OSError where the source cannot be read or the output not be written.
    """
    measuring = measurer(config.model_dump_json())
    safety, tally = safety_of(config.model_dump_json()), PersonalDataTally(config.personal_data.columns)
    earlier = _earlier(folder, unit)
    listed = None if earlier is None else _listed_again(earlier, folder, opt_outs)
    with Attempt(folder, unit) as attempt:
        documents = Ledger("documents")
        if earlier is not None and listed is not None:
            records, table = listed
            source = _decide_again(earlier.path(folder, "data"), measuring, unit, opt_outs)
            write_documents(tally.passing(source), attempt.file("data", ".parquet"), config, documents)
            pq.write_table(table, attempt.file("records", ".parquet"), compression="zstd")
            if "carried" in earlier.files:
                write_carried(read_table(earlier.path(folder, "carried")), attempt)
        else:
            records = Ledger("records")
            with Suspects(scratch_of(folder) / f".tmp-suspects-{unit.label}", unit.crashes) as suspects:
                rows: list[dict[str, Any]] = []
                carried: list[dict[str, Any]] = []
                pages = _documents(unit, config, safety, records, rows, carried, suspects, opt_outs, robots, forgotten)
                source = _measure(pages, measuring, unit)
                if forgotten is not None:
                    source = _less_forgotten(source, forgotten)
                write_documents(tally.passing(source), attempt.file("data", ".parquet"), config, documents)
                suspects.forget()
            pq.write_table(pa.Table.from_pylist(rows, RECORDS), attempt.file("records", ".parquet"), compression="zstd")
            if carried:
                write_carried(pa.Table.from_pylist(carried, CARRIED), attempt)
        notes = {"measured": unit.payload["measured"]}
        if config.reading.layout != "pages":
            task = ReadTask.from_json(unit.payload["task"])
            notes["rows"] = {"file": task.name, "start": task.start, "end": task.end}  # see `Job.row_files`
        if config.personal_data.enabled:
            notes["personal_data"] = tally.to_json()
        return attempt.commit([records, documents], notes)


def write_carried(carried: pa.Table, attempt: Attempt) -> None:
    """Write down where images are that came with their rows: the stage `fetch` reads them there."""
    pq.write_table(carried, attempt.file("carried", ".parquet"), compression="zstd")


def rows_task(task: ReadTask, config: RunConfig) -> RowsTask:
    """What a task asks of a file of rows."""
    return RowsTask(task.path, config.reading.layout, task.start, task.end)


def incomplete_file(unit: Unit, manifest: Manifest) -> str | None:
    """One line for a person where a committed unit read a file that is not whole, None where it is."""
    task = ReadTask.from_json(unit.payload["task"])
    if task.kind == "pointers":  # of a pointer, which is one record, the row in the ledger says it
        return None
    for reason, said in INCOMPLETE_FILE.items():
        if manifest.ledgers["records"].failed[reason]:
            return f"{task.path} ({task.size:,} bytes): {said}; put the whole file there and run the same command"
    return None


def _earlier(folder: Location, unit: Unit) -> Manifest | None:
    """A committed unit of the same range in which the same things were measured."""
    for manifest in read_manifests(folder, unit.payload["earlier"]).values():
        if manifest.notes.get("measured") == unit.payload["measured"]:
            return manifest
    return None


def _listed_again(earlier: Manifest, folder: Location, opt_outs: OptOuts) -> tuple[Ledger, pa.Table] | None:
    """The records of an earlier unit by the lists of now; None where a page must be read that was left unread then."""
    table = read_table(earlier.path(folder, "records"))
    records = Ledger.from_json("records", earlier.ledgers["records"].to_json())
    rows = table.to_pylist()
    for row in rows:
        was = row["reason"] if (row["reason"] or "").startswith(OPT_OUT) else None
        if row["outcome"] != "kept" and was is None:
            continue
        now = opt_outs.page_reason(row["url"])
        if was is not None and now is None:
            return None
        if now == was:
            continue
        if was is None:
            records.kept -= 1
        else:
            records.dropped[was] -= 1
        records.dropped[str(now)] += 1
        row.update(outcome="dropped", reason=now, documents=0)
    records.dropped = +records.dropped  # without reasons that nothing has any more
    return records, pa.Table.from_pylist(rows, RECORDS)


@functools.lru_cache(maxsize=1)
def measurer(config_json: str) -> Measurer:
    """The measurer of a config, made once per process."""
    config = RunConfig.model_validate_json(config_json)
    made = Measurer(config.filters, config.language, config.consent.licence)
    # Models and lists are loaded now, so that a worker that is killed while it loads them accuses no page.
    nodes: list[Node] = [TextNode("What is written here is of no account, but it is read.")]
    made.measure(Document("", "", "", 0, 0, nodes), everything=True)
    return made


def _measure(documents: Iterator[Document], measurer: Measurer, unit: Unit) -> Iterator[Document]:
    judge = functools.partial(measurer.judge, everything=unit.payload["everything"])
    at_once = 1 if unit.crashes else MEASURED_AT_ONCE  # page by page where `Suspects` must know which one is at hand
    while batch := list(islice(documents, at_once)):
        for document in [d for d in batch if d.reason != FORGOTTEN and _attempt(measurer.identify, d)]:
            _attempt(judge, document)
        yield from batch


def _attempt(step: Callable[[Document], bool | None], document: Document) -> bool | None:
    """What a step of measuring says of a document; None where it raises, which is then the document's reason."""
    try:
        return step(document)
    except UserError:
        raise
    except Exception as error:  # a filter of somebody else's, or ours, at a document it did not expect
        document.reason = f"{MEASURING_ERROR}_{type(error).__name__}"
        return None


def _decide_again(path: Location, measurer: Measurer, unit: Unit, opt_outs: OptOuts) -> Iterator[Document]:
    for document in read_documents(path):
        if opt_outs.page_reason(document.url) is not None:
            continue  # counted among the records
        if document.reason != FORGOTTEN:
            measurer.decide(document, everything=unit.payload["everything"])
        yield document


def _less_forgotten(documents: Iterator[Document], forgotten: Forgotten) -> Iterator[Document]:
    """Documents of which those whose text was removed are left blank."""
    for document in documents:
        if document.reason != FORGOTTEN and forgotten.text(document.text()):
            blank(document, forgotten.name(document.doc_id))
        yield document


def write_documents(documents: Iterable[Document], path: Path, config: RunConfig, ledger: Ledger) -> None:
    """Write measured documents as the stage's file, and count each in the ledger."""
    with DocumentWriter(path, score_names(config), list(config.filters.paragraph)) as writer:
        for document in documents:
            ledger.count(document.reason, has_failed(document))
            writer.write(document)


def _documents(
    unit: Unit,
    config: RunConfig,
    safety: Safety,
    ledger: Ledger,
    rows: list[dict[str, Any]],
    carried: list[dict[str, Any]],
    suspects: Suspects,
    opt_outs: OptOuts,
    robots: RobotsCaptures | None,
    forgotten: Forgotten | None,
) -> Iterator[Document]:
    """The documents of a unit's pages, or rows; the outcome of each record is counted in `ledger` and listed in `rows`.

    Where images are that came with a row is listed in `carried`.
    """
    task = ReadTask.from_json(unit.payload["task"])

    def add_row(item: _Item, reason: str | None, outcome: str, documents: int) -> None:
        url = _url_of(item)
        row = _record_row(item, safety.stored_url(url), task.name, reason, outcome, documents)
        gone = forgotten is not None and url is not None and forgotten.url(url)
        rows.append(blank_record(row) if gone or reason == FORGOTTEN else row)

    for item in _items(task, config, suspects):
        if isinstance(item, Skipped):
            _count(ledger, item.reason, item.failed)
            if not item.counted_only:
                add_row(item, item.reason, "failed" if item.failed else "dropped", 0)
            continue
        name, url = _name_of(item), _url_of(item) or ""
        suspects.touch(name)
        listed = opt_outs.page_reason(url)
        if forgotten is not None and forgotten.url(url):
            outcome: list[Document] | Refused = Refused(FORGOTTEN)
        elif listed is not None:
            outcome = Refused(listed)
        elif name in suspects.guilty:
            outcome = Refused("worker_died", failed=True)
        elif isinstance(item, Page):
            outcome = page_documents(item, config, safety, robots)
        else:
            outcome = _row_outcome(item, task.name, config, safety, robots)
        if forgotten is not None and not isinstance(outcome, Refused):
            outcome = _remembered(outcome, forgotten)
        if isinstance(outcome, Refused):
            _count(ledger, outcome.reason, outcome.failed)
            add_row(item, outcome.reason, "failed" if outcome.failed else "dropped", 0)
            continue
        ledger.keep()
        add_row(item, None, "kept", len(outcome))
        if isinstance(item, Row) and isinstance(item.document, RowDocument):
            carried += carried_rows(item.document, item.number)
        yield from outcome


_Item = Page | Row | Skipped


def _items(task: ReadTask, config: RunConfig, suspects: Suspects) -> Iterator[_Item]:
    """What a task reads. Which rows are read next is noted for `suspects`, for these may end a worker, too."""
    if task.kind != "rows":
        yield from read_task(task, config.reading)
        return
    reading = ""

    def may_read(number: int) -> bool:
        nonlocal reading
        reading = f"rows from {number}"
        suspects.touch(reading)
        return reading not in suspects.guilty

    for row in read_rows(rows_task(task, config), config.reading.storage_options, may_read):
        if isinstance(row.document, RowError):
            reason = row.document.reason
            yield Skipped(reason, failed=reason != NO_TEXT, offset=row.number)
        else:
            yield row
        suspects.touch(reading)


def _url_of(item: _Item) -> str | None:
    if isinstance(item, Row):
        return item.document.url if isinstance(item.document, RowDocument) else None
    return item.url


def _name_of(item: Page | Row) -> str:
    return f"{item.offset}.{item.ordinal}" if isinstance(item, Page) else f"{item.number}.0"


def _row_outcome(
    row: Row, file: str, config: RunConfig, safety: Safety, robots: RobotsCaptures | None
) -> list[Document] | Refused:
    assert isinstance(row.document, RowDocument), "others were skipped"
    try:
        return row_documents(row.document, file, row.number, config, safety, robots)
    except UserError:
        raise
    except Exception as error:  # a bad row costs a row, whatever it found in us
        return Refused(f"extraction_error_{type(error).__name__}", failed=True)


def _remembered(documents: list[Document], forgotten: Forgotten) -> list[Document] | Refused:
    """The documents of a page, those that were removed by their id left blank, and less such images."""
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
    item: _Item, url: str | None, source: str, reason: str | None, outcome: str, documents: int
) -> dict[str, Any]:
    return {
        "url": url,
        "warc_filename": item.warc_filename if isinstance(item, Page) else source,
        "warc_record_offset": item.number if isinstance(item, Row) else item.offset,
        "warc_record_length": None if isinstance(item, Row) else item.length,
        "outcome": outcome,
        "reason": reason,
        "documents": documents,
    }


def page_documents(
    page: Page, config: RunConfig, safety: Safety, robots: RobotsCaptures | None = None
) -> list[Document] | Refused:
    """The documents of one page, at least one, or the reason why the page gives no document."""
    blocked = safety.page_reason(page.url)
    if blocked is not None:
        return Refused(blocked)
    crawl = config.consent.crawl
    allowed, day = robots.answer_for(page.url) if robots is not None else (None, None)
    if crawl.robots == "drop" and allowed == DISALLOWED:
        return Refused("robots_txt")
    try:
        extracted = extract_page(page.html, page.url, config.extract, config.consent.licence.active)
    except PageRejected as rejected:
        return Refused(rejected.reason)
    except Exception as error:  # a bad page costs a page, whatever it found in us
        return Refused(f"extraction_error_{type(error).__name__}", failed=True)
    if config.reading.honour_noai and "noai" in extracted.robots:
        return Refused("noai_meta")
    tdm = page_tdm(extracted.tdm, page.tdm)
    if crawl.tdm == "drop" and tdm.reserved:
        return Refused("tdm_reserved")
    if not any(isinstance(node, TextNode) and node.text for node in extracted.nodes):
        return Refused("no_text")
    if config.reading.honour_noai and "noimageai" in extracted.robots:
        for node in extracted.nodes:
            if isinstance(node, ImageNode):
                node.reason = "noimageai_meta"
    safety.judge_images(extracted.nodes)
    heard = None
    if crawl.record:
        token = config.reading.robots_token
        heard = crawl_signals(page.warc_date, page.x_robots_tag, extracted.robots, tdm, token, allowed, day)
    parts = split_nodes(extracted.nodes, config.extract)
    documents = [_document(page, extracted, heard, nodes, i, len(parts)) for i, nodes in enumerate(parts)]
    try:
        safety.clean(documents, extracted.html_lang)
    except TooManyLooks:  # what was not searched is not stored
        return Refused(UNSEARCHED)
    return documents


def _document(
    page: Page, extracted: ExtractedPage, heard: dict[str, Any] | None, nodes: list[Node], part: int, parts: int
) -> Document:
    day = extracted.published
    general: dict[str, Any] = {
        "warc_date": page.warc_date,
        "charset": page.charset,
        "title": extracted.title,
        "main_content_confidence": extracted.main_content_confidence,
        **(extracted.page_type.to_json() if extracted.page_type is not None else {}),
        "published": None if day is None or is_ahead(day, page.warc_date) else day.isoformat(),
        **(extracted.links.to_json() if extracted.links is not None else {}),
        **extracted.licence.to_json(),
        "image_licences": _image_licences(extracted, nodes),
        "consent": heard,
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


def _image_licences(extracted: ExtractedPage, nodes: Sequence[Node]) -> dict[str, str] | None:
    """The licences of a document's images, of those that the page names one for."""
    of = extracted.licence.pictures
    return {n.src: of[n.src] for n in nodes if isinstance(n, ImageNode) and n.src in of} or None if of else None
