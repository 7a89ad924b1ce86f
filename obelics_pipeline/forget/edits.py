"""What is left of a table once something in it is forgotten, by the columns that it has.

A row that others are counted by stays, blank and under another name, so that row numbers and joins still hold; a row
that only tells of what is forgotten goes. Every edit gives the same again where it is done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.forget.gone import Gone
from obelics_pipeline.policy.forgotten import FORGOTTEN
from obelics_pipeline.policy.tombstones.keyed import SIZE
from obelics_pipeline.stages.extract.row_documents import CARRIED
from obelics_pipeline.stages.extract.stage import RECORDS, blank_record
from obelics_pipeline.stages.fetch.result import ANSWER_SCHEMA
from obelics_pipeline.stages.site.keys import keys_in

Edit = Callable[[pa.Table], pa.Table]


def edit_of(names: Sequence[str], gone: Gone) -> Edit | None:
    """The edit for a table with these columns; None for a table about neither documents nor images."""
    there = set(names)
    if there >= set(RECORDS.names):
        return partial(_records, gone=gone)
    if there >= set(ANSWER_SCHEMA.names) or there in ({"partition", "url"}, {"bucket", "partition", "url"}):
        return partial(_without, column="url", is_gone=gone.address)
    if there == set(CARRIED.names):
        return partial(_without, column="sha256", is_gone=gone.carried)
    if there == {"row", "doc_id", "reason", "duplicate_of"}:
        return partial(_duplicates, gone=gone)
    if "doc_id" in there:
        return partial(_without, column="doc_id", is_gone=gone.out)
    if "image_set" in there and "doc" in there:
        return partial(_members, column="doc", keys=("url", "text"), is_gone=gone.out, gone=gone)
    if {"key", "doc"} <= there:  # shuffled rows about documents, and what these use
        is_gone = gone.out if "sketch" in there else gone.document
        return partial(_members, column="doc", keys=("key",), is_gone=is_gone, gone=gone)
    if there & {"doc", "of_doc", "group"}:
        return partial(_renamed, columns=sorted(there & {"doc", "of_doc", "group", "key"}), gone=gone)
    for column, is_of_gone in (("url", gone.address), ("origin", gone.url)):
        if column in there:
            return partial(_without, column=column, is_gone=is_of_gone)
    return None


def mask_of(column: pa.ChunkedArray, is_gone: Callable[[Any], bool]) -> pa.Array:
    """Which values of a column are gone; each distinct value is asked for once, a null is not."""
    coded = column.combine_chunks().dictionary_encode()
    known = pa.array([value is not None and is_gone(value) for value in coded.dictionary.to_pylist()], pa.bool_())
    return pc.fill_null(known.take(coded.indices), False)


def _of_bytes(is_gone: Callable[[str], bool]) -> Callable[[bytes], bool]:
    return lambda value: len(value) == SIZE and is_gone(value.hex())


def _without(table: pa.Table, column: str, is_gone: Callable[[Any], bool]) -> pa.Table:
    mask = mask_of(table[column], is_gone)
    return table.filter(pc.invert(mask)) if pc.any(mask).as_py() else table


def _members(table: pa.Table, column: str, keys: Sequence[str], is_gone: Callable[[str], bool], gone: Gone) -> pa.Table:
    """Rows without those of documents that are gone; a group that was called after one has another name."""
    return _renamed(_without(table, column, _of_bytes(is_gone)), keys, gone)


def _renamed(table: pa.Table, columns: Iterable[str], gone: Gone) -> pa.Table:
    """Forgotten documents under other names; a group is still one group."""
    for column in columns:
        mask = mask_of(table[column], _of_bytes(gone.document))
        if pc.any(mask).as_py():
            values = zip(table[column].to_pylist(), mask.to_pylist(), strict=True)
            renamed = [bytes.fromhex(gone.name(v.hex())) if is_gone else v for v, is_gone in values]
            at, field = table.schema.get_field_index(column), table.schema.field(column)
            table = table.set_column(at, field, pa.array(renamed, field.type))
    return table


def _duplicates(table: pa.Table, gone: Gone) -> pa.Table:
    """Rows stay, because tars are cut by them. A row that is left out with a forgotten document says so."""
    rows = table.to_pylist()
    for row in rows:
        if gone.document(row["doc_id"]):
            row |= {"doc_id": gone.name(row["doc_id"]), "reason": FORGOTTEN, "duplicate_of": None}
        elif gone.out(row["doc_id"]):
            row |= {"reason": FORGOTTEN, "duplicate_of": None}
        elif row["duplicate_of"] is not None and gone.document(row["duplicate_of"]):
            row["duplicate_of"] = gone.name(row["duplicate_of"])
    edited = pa.Table.from_pylist(rows, table.schema)
    return table if edited.equals(table) else edited


def _records(table: pa.Table, gone: Gone) -> pa.Table:
    mask = mask_of(table["url"], gone.address)
    if not pc.any(mask).as_py():
        return table
    rows = [blanked(row) if is_gone else row for row, is_gone in zip(table.to_pylist(), mask.to_pylist(), strict=True)]
    return pa.Table.from_pylist(rows, table.schema)


def blanked(row: dict[str, Any]) -> dict[str, Any]:
    """The row of a forgotten record: it was kept no more; what another rule dropped was dropped by that."""
    if row["outcome"] == "kept":
        row = row | {"outcome": "dropped", "reason": FORGOTTEN, "documents": 0}
    return blank_record(row)


def without_keys(counted: pa.Table, before: pa.Table, after: pa.Table) -> pa.Table:
    """Counted keys (`sharing.KEYS`) less those that no document has any more: `before` and `after` list those of each
    (`keys.PASSAGES`).
    """
    gone = pa.array(sorted(keys_in(before) - keys_in(after)), pa.uint64())
    return counted.filter(pc.invert(pc.is_in(counted["key"], gone)))
