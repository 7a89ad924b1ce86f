"""The last comparison: of each group of duplicates, the first document that passed everything else is kept.

Rows of published corpora may bring an id of their own. Equal ids are one document, which may stand in two input files:
made distinct, they would say otherwise to `obelics forget`, to later runs and to readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.document import DOCUMENT_DROPPED
from obelics_pipeline.core.image_set import image_set_key
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import Location, read_table
from obelics_pipeline.core.tables import kept_rows
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.stages.dedup.candidates import TEXT, URL
from obelics_pipeline.stages.dedup.groups import read_groups
from obelics_pipeline.stages.dedup.shuffled_rows import CANDIDATES, EDGES, bucket_of, whole
from obelics_pipeline.stages.rows.row_error import REPEATED_ID

ID, IMAGE_SET = "id", "image_set"  # rules
RULES = (URL, TEXT, IMAGE_SET)  # in this order: what lost as a capture is no longer there to be a text's first
REASONS = {
    ID: REPEATED_ID,
    URL: "duplicate_url",
    TEXT: "duplicate_text",
    IMAGE_SET: "duplicate_image_set",
}  # of documents

# A document that passed everything else: where it stands in its assembled file, and the keys of its groups.
PASSED = pa.schema(
    [
        pa.field("row", pa.int32()),  # of the assembled documents
        pa.field("doc", pa.binary()),
        pa.field("images", pa.int32()),  # how many
        pa.field("page", pa.int32()),  # the parts of a split page share it
        pa.field("place", pa.int32()),  # row of the extracted documents: the index in shuffled_rows.ORDER
        pa.field("recency", pa.int64()),
        *(pa.field(rule, pa.binary()) for rule in RULES),  # key of the group, null where the rule does not apply
    ]
)

LOST = pa.schema(
    [EDGES.field(name) for name in ("rule", "row", "of_doc")]
)  # what a partition reads of its lost documents

# A document that is left out because another is kept, in the order of the assembled documents.
DUPLICATES = pa.schema(
    [
        pa.field("row", pa.int64()),  # of the assembled documents
        pa.field("doc_id", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("duplicate_of", pa.string()),  # doc_id of the one that is kept
    ]
)


def passed_unit(
    unit: Unit,
    *,
    folder: Location,
    candidate_folder: Location,
    member_folder: Location,
    assembled_folder: Location,
    config: DedupConfig,
) -> Manifest:
    """List the kept documents of one assembled unit with the keys of their groups."""
    groups = read_groups(unit, candidate_folder, member_folder)
    rows: list[dict[str, Any]] = []
    source = committed(assembled_folder, unit.payload["documents"]).path(assembled_folder, "data")
    for numbers, table in kept_rows(source, ["doc_id", "nodes"]):
        for row, value in zip(numbers, table.to_pylist(), strict=True):
            page = groups.page(value["doc_id"])
            images = [n for n in value["nodes"] if n["kind"] == "image" and n["reason"] is None]
            rows.append(
                {
                    "row": row,
                    "doc": page.doc,
                    "images": len(images),
                    "page": page.page,
                    "place": page.row,
                    "recency": page.recency,
                    URL: groups.group(page, URL) if config.page_url.enabled else None,
                    TEXT: groups.group(page, TEXT) if config.text.enabled else None,
                    IMAGE_SET: image_set_key(images, config.image_set),
                }
            )
    with Attempt(folder, unit) as attempt:
        pq.write_table(pa.Table.from_pylist(rows, PASSED), attempt.file("data", ".parquet"), compression="zstd")
        notes = {key: unit.payload[key] for key in ("partition", "documents", "generation")}
        return attempt.commit([], notes)


def listed_unit(unit: Unit, *, folder: Location, assembled_folder: Location) -> Manifest:
    """List the kept documents of one assembled unit, of which no groups are known: only their ids are compared."""
    rows: list[dict[str, Any]] = []
    source = committed(assembled_folder, unit.payload["documents"]).path(assembled_folder, "data")
    for numbers, table in kept_rows(source, ["doc_id", "images"]):
        for row, value in zip(numbers, table.to_pylist(), strict=True):
            images = sum(image is not None for image in value["images"])
            doc = bytes.fromhex(value["doc_id"])
            rows.append({"row": row, "doc": doc, "images": images, "page": row, "place": row, "recency": 0})
    with Attempt(folder, unit) as attempt:
        pq.write_table(pa.Table.from_pylist(rows, PASSED), attempt.file("data", ".parquet"), compression="zstd")
        notes = {key: unit.payload[key] for key in ("partition", "documents", "generation")}
        return attempt.commit([], notes)


def passed_again_unit(
    unit: Unit, *, folder: Location, corpus_folders: Mapping[str, Location], member_folder: Location
) -> Manifest:
    """The kept documents of one assembled unit of an earlier run, with the groups that they are in now.

    `corpus_folders` are `candidates`, `passed` and `settled` of that run.
    """
    passed, settled = (
        read_table(committed(corpus_folders[step], unit.payload[step]).path(corpus_folders[step], "data"))
        for step in ("passed", "settled")
    )
    groups = read_groups(unit, corpus_folders["candidates"], member_folder)
    gone = set(settled["row"].to_pylist())
    rows = [value for value in passed.to_pylist() if value["row"] not in gone]
    for value in rows:
        page = groups.page(value["doc"].hex())
        value |= {rule: value[rule] and groups.group(page, rule) for rule in (URL, TEXT)}
    with Attempt(folder, unit) as attempt:
        pq.write_table(pa.Table.from_pylist(rows, PASSED), attempt.file("data", ".parquet"), compression="zstd")
        notes = {key: unit.payload[key] for key in ("partition", "documents", "generation")}
        return attempt.commit([], notes)


def alive_unit(
    unit: Unit, *, folder: Location, passed_folder: Location, lost_folder: Location, buckets: int
) -> Manifest:
    """Write the shuffled rows of one rule: passed documents that no earlier rule found to be duplicates."""
    rule, generation = unit.payload["rule"], unit.payload["generation"]
    passed = read_table(committed(passed_folder, unit.payload["passed"]).path(passed_folder, "data"))
    lost = lost_rows(passed, read_lost(unit.payload["lost"], lost_folder))
    if rule == ID:
        passed = passed.append_column(ID, passed["doc"])
    alive = [value for value in passed.to_pylist() if value["row"] not in lost and value[rule] is not None]
    if rule == URL:
        alive = first_parts(alive)
    columns = {
        "bucket": [bucket_of(value[rule], buckets) for value in alive],
        "rule": [rule] * len(alive),
        "key": [value[rule] for value in alive],
        "sketch": [None] * len(alive),
        "generation": [generation] * len(alive),
        "recency": [value["recency"] for value in alive],
        "partition": [unit.payload["partition"]] * len(alive),
        "row": [value["place"] for value in alive],
        "doc": [value["doc"] for value in alive],
    }
    with Attempt(folder, unit) as attempt:
        table = pa.table(columns, schema=CANDIDATES)
        pq.write_table(table, attempt.file("data", ".parquet"), compression="zstd")
        return attempt.commit([], {"rows": {"data": table.num_rows}})


def settle_unit(unit: Unit, *, folder: Location, passed_folder: Location, lost_folder: Location) -> Manifest:
    """Which documents of one assembled unit are duplicates of one that is kept, and how many are kept."""
    passed = read_table(committed(passed_folder, unit.payload["passed"]).path(passed_folder, "data"))
    lost = lost_rows(passed, read_lost(unit.payload["lost"], lost_folder))
    documents, images, rows = Ledger("documents"), Ledger("images"), []
    for row, doc, n in zip(*(passed[name].to_pylist() for name in ("row", "doc", "images")), strict=True):
        if row not in lost:
            documents.keep()
            images.keep(n)
            continue
        rule, of = lost[row]
        documents.drop(REASONS[rule])
        if n:
            images.drop(DOCUMENT_DROPPED, n)
        rows.append({"row": row, "doc_id": doc.hex(), "reason": REASONS[rule], "duplicate_of": of.hex()})
    with Attempt(folder, unit) as attempt:
        pq.write_table(pa.Table.from_pylist(rows, DUPLICATES), attempt.file("data", ".parquet"), compression="zstd")
        notes = {"documents": unit.payload["documents"], "rows": {"data": len(rows)}}
        return attempt.commit([documents, images], notes)


def first_parts(passed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first document of each page: it speaks for all parts of a split page."""
    first: dict[int, dict[str, Any]] = {}
    for value in passed:
        first.setdefault(value["page"], value)
    return list(first.values())


def of_other_ids(duplicates: pa.Table) -> pa.Table:
    """Rows of DUPLICATES without those of repeated ids: by the id alone they would tell of the one that is kept."""
    return duplicates.filter(pc.not_equal(duplicates["reason"], REASONS[ID]))


def read_lost(names: Iterable[str], folder: Location) -> pa.Table:
    """Rows of LOST from the files of one partition."""
    return whole((read_table(folder / name) for name in names), LOST)


def lost_rows(passed: pa.Table, lost: pa.Table) -> dict[int, tuple[str, bytes]]:
    """Row of the assembled documents -> (rule, the document that is kept instead), from PASSED and LOST."""
    columns = (lost[name].to_pylist() for name in ("row", "rule", "of_doc"))
    by_place = {place: (rule, of) for place, rule, of in zip(*columns, strict=True)}
    found: dict[int, tuple[str, bytes]] = {}
    pages: dict[int, tuple[str, bytes]] = {}
    values = passed.select(["row", "page", "place"]).to_pylist()
    for value in values:
        verdict = by_place.get(value["place"])
        if verdict is not None:
            found[value["row"]] = verdict
            if verdict[0] == URL:
                pages[value["page"]] = verdict
    for value in values:
        if value["page"] in pages:
            found.setdefault(value["row"], pages[value["page"]])
    return found
