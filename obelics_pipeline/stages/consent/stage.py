"""The stage consent: a service is asked once about each URL of the kept documents; opted-out ones are dropped.

The answers are committed, as those of a fetch are. So any engine gives the same documents, and a resumed run asks
nothing twice. The driver asks, one request after the other, so that the rate holds for the whole run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Attempt, Manifest, committed, names_by_label, read_manifests, unit_names
from obelics_pipeline.core.config.consent import OptOutServiceConfig
from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.storage import Location, read_table, scratch_of
from obelics_pipeline.core.tables import DocumentWriter, read_kept, score_columns
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.policy.opt_outs.lists import OPT_OUT
from obelics_pipeline.stages.consent.service import Service

STAGE = "consent"
VERSION = 1  # raise it when the same URL would be asked about in another way: answers are kept
UNANSWERED = f"{OPT_OUT}unanswered"

QUESTIONS = pa.schema([("bucket", pa.int32()), ("partition", pa.string()), ("url", pa.string())])
ANSWERS = pa.schema([("partition", pa.string()), ("url", pa.string()), ("opted_out", pa.bool_()), ("day", pa.string())])
KNOWN = pa.schema([("url", pa.string()), ("opted_out", pa.bool_()), ("day", pa.string())])

Answer = tuple[bool | None, str | None]  # None: no answer; the day of the answer, in UTC


def question_units(documents: Sequence[Manifest], config: OptOutServiceConfig) -> list[Unit]:
    """One unit per unit of documents, which lists the URLs to ask about."""
    settings = [code_of(__name__), config.buckets, sorted(config.of)]
    return [
        Unit("questions", digest(settings, m.unit, m.files["data"]["sha256"]), "", {"documents": m.unit})
        for m in documents
    ]


def question_unit(unit: Unit, *, folder: Location, document_folder: Location, config: OptOutServiceConfig) -> Manifest:
    """Write the distinct URLs of the kept documents of one unit, and of their kept images."""
    documents = committed(document_folder, unit.payload["documents"])
    found: set[str] = set()
    for document in read_kept(documents.path(document_folder, "data")):
        if "pages" in config.of:
            found.add(document.url)
        if "images" in config.of:
            found.update(image.src for image in document.images())
    urls = sorted(found)
    columns = [[_bucket(url, config.buckets) for url in urls], [documents.unit] * len(urls), urls]
    with Attempt(folder, unit) as attempt:
        pq.write_table(pa.Table.from_arrays(columns, schema=QUESTIONS), attempt.file("data", ".parquet"))
        return attempt.commit([], {"rows": {"data": len(urls)}})


def _bucket(url: str, buckets: int) -> int:
    return int.from_bytes(hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest()) % buckets


def identity(config: OptOutServiceConfig) -> str:
    """A digest of the settings that an answer depends on, beside its URL."""
    return digest(VERSION, redacted(config.url), config.answer)


def answer_units(
    questions: Partitions, folder: Location, config: OptOutServiceConfig, retry: bool = False
) -> list[Unit]:
    """One unit per bucket of addresses. With `retry` those without an answer are asked about once more."""
    units, listed = [], names_by_label(folder)
    for bucket, names in sorted(questions.files.items(), key=lambda item: int(item[0])):
        label = f"answers-{int(bucket):04d}"
        before = listed.get(label, [])
        earlier = _earlier(folder, before, config)
        generation = max((m.notes["generation"] for m in earlier), default=0)
        if retry and earlier and any(m.ledgers["answers"].failed for m in earlier[-1:]):
            generation += 1
        id_ = digest(identity(config), questions.digest(bucket), config.on_failure, generation)
        payload = {"generation": generation, "questions": list(names), "earlier": before}
        units.append(Unit("answers", id_, label, payload))
    return units


def answer_unit(
    unit: Unit,
    *,
    folder: Location,
    question_folder: Location,
    config: OptOutServiceConfig,
    asked: Location | None = None,
) -> Manifest:
    """Ask the service about the URLs of one bucket that have no answer yet, and commit the answers.

    If `asked` is given, only the answers committed there are used and the service is not called. Raises Stopped if an
    answer is missing and the config says to stop; the answers so far stay in a journal.
    """
    rows = _question_rows([question_folder / name for name in unit.payload["questions"]])
    urls = sorted({url for _, url in rows})
    known: dict[str, Answer] = {}
    source = asked if asked is not None else folder
    for manifest in _earlier(source, unit.payload["earlier"] if asked is None else unit_names(asked), config):
        known |= {u: (o, d) for u, o, d in _known_rows(manifest.path(source, "known")) if o is not None}
    journal = scratch_of(folder) / "journal" / f"{unit.label}-{identity(config)}.jsonl"
    known |= _noted(journal)
    missing = [url for url in urls if url not in known]
    if missing and asked is None:
        known |= _ask(missing, config, journal)
    answers = {url: known.get(url, (None, None)) for url in urls}
    with Attempt(folder, unit) as attempt:
        pq.write_table(_table(((p, u, *answers[u]) for p, u in rows), ANSWERS), attempt.file("data", ".parquet"))
        pq.write_table(_table(((u, *answers[u]) for u in urls), KNOWN), attempt.file("known", ".parquet"))
        notes = {"identity": identity(config), "generation": unit.payload["generation"], "rows": {"data": len(rows)}}
        manifest = attempt.commit([_ledger(answers, config)], notes)
    journal.unlink(missing_ok=True)
    return manifest


def _earlier(folder: Location, names: Sequence[str], config: OptOutServiceConfig) -> list[Manifest]:
    """Those of committed units that asked the same service, the oldest first."""
    found = read_manifests(folder, names).values()
    same = [m for m in found if m.notes["identity"] == identity(config)]
    return sorted(same, key=lambda m: (m.notes["generation"], m.unit))


def _question_rows(paths: Sequence[Location]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for path in paths:
        table = read_table(path, ["partition", "url"])
        rows += zip(table["partition"].to_pylist(), table["url"].to_pylist(), strict=True)
    return sorted(rows)


def _known_rows(path: Location) -> Iterator[tuple[str, bool | None, str | None]]:
    table = read_table(path)
    yield from zip(*(table[name].to_pylist() for name in KNOWN.names), strict=True)


def _ask(urls: Sequence[str], config: OptOutServiceConfig, journal: Path) -> dict[str, Answer]:
    journal.parent.mkdir(parents=True, exist_ok=True)
    answers: dict[str, Answer] = {}
    with journal.open("a", encoding="utf-8", errors="surrogatepass") as file:
        file.write("\n")  # ends what a killed run left
        for found, reason in Service(config).ask(urls):
            day = datetime.now(UTC).date().isoformat()
            answers |= {url: (opted_out, day) for url, opted_out in found.items()}
            if found:
                file.write(json.dumps([day, found], separators=(",", ":")) + "\n")
                file.flush()
            if reason is not None and config.on_failure == "stop":
                raise Stopped(
                    f"consent.service: {config.url} gave no answer ({reason}); run the same command to continue, or "
                    "set consent.service.on_failure to drop or keep"
                )
    return answers


def _noted(journal: Path) -> dict[str, Answer]:
    """The answers that an earlier try got; torn lines are skipped."""
    if not journal.exists():
        return {}
    answers: dict[str, Answer] = {}
    for line in journal.read_bytes().splitlines():
        try:
            day, found = json.loads(line)
            answers |= {str(url): (bool(opted_out), str(day)) for url, opted_out in found.items()}
        except (ValueError, TypeError, AttributeError):
            continue
    return answers


def _table(rows: Iterator[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def _ledger(answers: Mapping[str, Answer], config: OptOutServiceConfig) -> Ledger:
    ledger = Ledger("answers")
    for opted_out, _ in answers.values():
        if opted_out is None:
            ledger.fail(UNANSWERED)
        elif opted_out:
            ledger.drop(OPT_OUT + config.name)
        else:
            ledger.keep()
    return ledger


def obey_units(documents: Sequence[Manifest], answers: Partitions, config: OptOutServiceConfig) -> list[Unit]:
    """One unit per unit of documents, with the answers about it."""
    settings = [code_of(__name__), config.name, sorted(config.of), config.on_failure]
    units = []
    for m in documents:
        id_ = digest(settings, m.unit, m.files["data"]["sha256"], answers.digest(m.unit))
        payload = {"documents": m.unit, "partition": m.notes.get("partition", m.unit), "answers": answers.names(m.unit)}
        units.append(Unit(STAGE, id_, m.unit.rpartition("-")[0], payload))
    return units


def obey_unit(
    unit: Unit, *, folder: Location, document_folder: Location, answer_folder: Location, config: OptOutServiceConfig
) -> Manifest:
    """Drop the documents and the images of one unit that are opted out, and note when that was asked."""
    answers: dict[str, Answer] = {}
    for name in unit.payload["answers"]:
        answers |= {u: (o, d) for u, o, d in _known_rows(answer_folder / name)}
    source = committed(document_folder, unit.payload["documents"]).path(document_folder, "data")
    ledger = Ledger("documents")
    with Attempt(folder, unit) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), *score_columns(source)) as writer:
            for document in read_kept(source):
                obey(document, answers, config)
                if document.reason is None:
                    ledger.keep()
                else:
                    ledger.drop(document.reason)
                writer.write(document)
        return attempt.commit([ledger], {"partition": unit.payload["partition"]})


def obey(document: Document, answers: Mapping[str, Answer], config: OptOutServiceConfig) -> None:
    """Give a document, and each of its images, its reason to be dropped, where there is one."""
    if "pages" in config.of:
        document.reason = _reason(answers.get(document.url), config)
        day = answers.get(document.url, (None, None))[1]
        if day is not None:
            document.general["opt_out_checked"] = {config.name: day}
    if "images" in config.of and document.reason is None:
        for node in document.nodes:
            if isinstance(node, ImageNode) and node.reason is None:
                node.reason = _reason(answers.get(node.src), config)


def _reason(answer: Answer | None, config: OptOutServiceConfig) -> str | None:
    opted_out = None if answer is None else answer[0]
    if opted_out is None:
        return UNANSWERED if config.on_failure == "drop" else None
    return OPT_OUT + config.name if opted_out else None
