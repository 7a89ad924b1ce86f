"""A record and its documents in the folder of a run. Only files that manifests name are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from obelics_pipeline.core.commit import Manifest, read_manifest, read_manifests, unit_names
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.run_index import index_of
from obelics_pipeline.core.storage import Location, read_table, size_of
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.inspect.run_tables.training import Trained, trained
from obelics_pipeline.jobs.events import read_events
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.stages.site.site_evidence import STAGE as SITE
from obelics_pipeline.stages.site.told import SharedPassage, shared_with_others
from obelics_pipeline.stages.stage import Stage

_DOC_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class InRun:
    """A record as a run met it: read by `unit` of the extract stage, and `outcome` is kept, dropped or failed.

    `others` are the further records with this URL: the WARC file and the offset of each.
    """

    unit: str
    url: str | None
    warc_filename: str
    offset: int
    length: int
    outcome: str
    reason: str | None
    doc_id: str | None = None  # the one that was asked for, if one was
    others: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True)
class Later:
    """A document as a stage after the first left it. `label` is what a person calls that."""

    stage: str
    label: str
    document: Document


@dataclass(frozen=True)
class Fate:
    """The fate of a document in the run: its state after extract and after each later stage, in order; what it
    duplicates; its position in a tar; and its record in training.
    """

    extracted: Document | None = None
    later: Sequence[Later] = ()
    duplicate: tuple[str, str] | None = None  # reason, and the doc_id of the document that is kept instead
    shard: str | None = None
    offset: int | None = None  # bytes
    length: int | None = None  # bytes
    trained: Trained | None = None
    shared: Sequence[SharedPassage] = ()  # with other pages of its site, and with other sites

    def after(self, stage: str) -> Document | None:
        """As a stage left it; None where that did not have it."""
        return next((later.document for later in self.later if later.stage == stage), None)


def find_in_run(folder: RunFolder, which: str) -> InRun:
    """The record of a document id or of a URL; of several records with one URL the first that was kept, else the first.

    Raises UserError for a folder without extracted documents, and for what the run never saw.
    """
    manifests = list(_manifests(folder.extract))
    if not manifests:
        raise UserError(f"{folder.path}: not the folder of a run, or its first unit is not done yet; see: obelics run")
    found = _of_document(folder, manifests, which) if _DOC_ID.fullmatch(which) else _of_url(folder, manifests, which)
    if found is None:
        records = sum(m.ledgers["records"].entered for m in manifests)
        among = f"among the {records:,} records of {folder.path}"
        if _DOC_ID.fullmatch(which):
            raise UserError(f"{which}: no document has this id {among}")
        raise UserError(f"{which}: this URL is not {among}; it must match letter by letter")
    return found


def fates_of(folder: RunFolder, unit: str, doc_ids: Sequence[str]) -> dict[str, Fate]:
    """The fates of the documents of a unit, by id. Documents that the run does not have are left out."""
    extracted = _documents(folder.extract, [unit], doc_ids)
    label = unit.rpartition("-")[0]
    found: list[tuple[Stage, dict[str, Document]]] = []
    for stage in stages_in(folder)[1:]:
        if stage.documents:
            place = stage.folder(folder.path)
            names = [name for name in unit_names(place) if name.rpartition("-")[0] == label]
            found.append((stage, _documents(place, names, doc_ids)))
    placed, duplicates = _index_rows(folder, doc_ids), _duplicates(folder, doc_ids)
    told = trained(folder, list(doc_ids))
    return {
        doc_id: replace(
            Fate(
                document,
                [Later(stage.name, stage.label or stage.name, d[doc_id]) for stage, d in found if doc_id in d],
                duplicates.get(doc_id),
                *placed.get(doc_id, (None, None, None)),
            ),
            trained=told.get(doc_id),
            shared=_shared(folder, unit, [d[doc_id] for stage, d in found if stage.name == SITE and doc_id in d]),
        )
        for doc_id, document in extracted.items()
    }


def _shared(folder: RunFolder, unit: str, documents: Sequence[Document]) -> list[SharedPassage]:
    return [passage for document in documents for passage in shared_with_others(folder, unit, document)]


def noted_inputs(folder: RunFolder) -> list[str]:
    """The inputs of the runs in a folder, as written on the command line; the last run first."""
    return list(dict.fromkeys(pattern for event in _starts(folder) for pattern in event.get("inputs", ())))


def noted_config(folder: RunFolder) -> str | None:
    """The config that the last run in a folder was given, as it was written on the command line; None if unknown."""
    return next((str(event["config"]) for event in _starts(folder) if event.get("config")), None)


def _starts(folder: RunFolder) -> list[dict[str, Any]]:
    """The events that began the runs in a folder, the last run's first."""
    return [event for event in reversed(read_events(folder.events)) if event["event"] == "run_started"]


def _manifests(folder: Location) -> Iterator[Manifest]:
    return iter(read_manifests(folder, unit_names(folder)).values())


def _of_document(folder: RunFolder, manifests: Sequence[Manifest], doc_id: str) -> InRun | None:
    for manifest in manifests:
        for document in _documents(folder.extract, [manifest.unit], [doc_id]).values():
            return InRun(
                manifest.unit,
                document.url,
                document.warc_filename,
                document.warc_record_offset,
                document.warc_record_length,
                "kept",
                None,
                doc_id,
            )
    return None


def _of_url(folder: RunFolder, manifests: Sequence[Manifest], url: str) -> InRun | None:
    found: list[tuple[str, dict[str, Any]]] = []
    for manifest in manifests:
        table = read_table(manifest.path(folder.extract, "records"), filters=[("url", "==", url)])
        found += [(manifest.unit, row) for row in table.to_pylist()]
    if not found:
        return None
    unit, row = next((item for item in found if item[1]["outcome"] == "kept"), found[0])
    others = [(r["warc_filename"], r["warc_record_offset"]) for _, r in found if r is not row]
    return InRun(
        unit,
        url,
        row["warc_filename"],
        row["warc_record_offset"],
        row["warc_record_length"],
        row["outcome"],
        row["reason"],
        others=others,
    )


def _documents(folder: Location, units: Sequence[str], doc_ids: Sequence[str]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for unit in units:
        manifest = read_manifest(folder, unit)
        if manifest is None:
            continue
        path = manifest.path(folder, "data")
        for row, doc_id in enumerate(read_table(path, ["doc_id"])["doc_id"].to_pylist()):
            if doc_id in doc_ids:
                found[doc_id] = next(read_documents(path, row, row + 1))
    return found


def _duplicates(folder: RunFolder, doc_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    path = folder.duplicates
    if not doc_ids or size_of(path) is None:
        return {}
    table = read_table(path, ["doc_id", "reason", "duplicate_of"], filters=[("doc_id", "in", list(doc_ids))])
    return {row["doc_id"]: (row["reason"], row["duplicate_of"]) for row in table.to_pylist()}


def _index_rows(folder: RunFolder, doc_ids: Sequence[str]) -> dict[str, tuple[str, int, int]]:
    index = index_of(folder.path) if doc_ids else None
    if index is None:
        return {}
    columns = ["doc_id", "shard", "offset", "length"]
    table = index.table(columns, filters=[("doc_id", "in", list(doc_ids))])
    return {row["doc_id"]: (row["shard"], row["offset"], row["length"]) for row in table.to_pylist()}
