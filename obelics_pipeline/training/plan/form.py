"""The files of a plan: their names, columns and hashes; written whole, plan.json last."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import TEMPORARY, file_sha256, put, write_bytes
from obelics_pipeline.training.plan.rows import Rows

FORMAT = "obelics-plan-1"
ABOUT, DOCUMENTS, ROWS, SPANS, HELD_OUT = "plan.json", "documents.arrow", "rows.arrow", "spans.arrow", "held_out"
FILES = (DOCUMENTS, ROWS, SPANS, f"{HELD_OUT}/{ROWS}", f"{HELD_OUT}/{SPANS}")
BATCH = 2**20  # rows of a record batch: all but the last have just so many, so that row n is found by division

DOCUMENT_COLUMNS = pa.schema(
    [
        ("dataset", pa.int16()),
        ("shard", pa.dictionary(pa.int32(), pa.string())),
        ("offset", pa.int64()),
        ("length", pa.int64()),
        ("doc_id", pa.string()),
        ("url", pa.string()),
        ("warc_filename", pa.string()),
        ("warc_record_offset", pa.int64()),
        ("warc_record_length", pa.int64()),
        ("content_sha256", pa.string()),
        ("n_tokens", pa.int32()),
        ("n_images", pa.int32()),
        ("ids_crc32", pa.uint32()),
        ("n_target_bytes", pa.int32()),
        ("reason", pa.string()),
    ]
)
ROW_COLUMNS = pa.schema(
    [
        ("dataset", pa.int16()),
        ("first_span", pa.int64()),
        ("n_spans", pa.int32()),
        ("n_tokens", pa.int32()),
        ("n_images", pa.int32()),
    ]
)
SPAN_COLUMNS = pa.schema(
    [
        ("document", pa.int64()),
        ("token_start", pa.int32()),
        ("token_stop", pa.int32()),
        ("image_start", pa.int32()),
        ("image_stop", pa.int32()),
        ("carried", pa.bool_()),
        ("repeat", pa.int16()),
    ]
)


def write_plan(
    folder: Path, documents: pa.Table, rows: Rows, held_out: Rows, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Write a plan, whole or not at all; returns what plan.json says.

    `about` is what plan.json says beside the format, the hashes and the id. A plan that is there is replaced. Raises
    UserError for a folder that holds something else.
    """
    claim(folder)
    draft = folder / f"{TEMPORARY}plan"
    shutil.rmtree(draft, ignore_errors=True)
    (draft / HELD_OUT).mkdir(parents=True)
    try:
        write_arrow(draft / DOCUMENTS, documents, DOCUMENT_COLUMNS)
        for part, where in ((rows, draft), (held_out, draft / HELD_OUT)):
            write_arrow(where / ROWS, row_table(part), ROW_COLUMNS)
            write_arrow(where / SPANS, span_table(part), SPAN_COLUMNS)
        value = {"format": FORMAT, "sha256": {name: file_sha256(draft / name) for name in FILES}}
        value |= {"documents_of": documents_id(documents), **about}
        value["id"] = plan_id(value)
        (folder / ABOUT).unlink(missing_ok=True)  # from here on the folder holds no plan until its last file is there
        for name in FILES:
            put(draft / name, folder / name)
        write_bytes(folder / ABOUT, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())
        return value
    except OSError as error:
        raise UserError(f"--output {folder}: cannot be written to ({error.strerror or error}); give another") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def claim(folder: Path) -> None:
    """Make the folder of a plan. Raises UserError for one that holds something else, or that cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise UserError(f"--output {folder}: no folder can be made there ({error.strerror}); give another") from None
    strangers = [name for name in there if name not in (ABOUT, DOCUMENTS, ROWS, SPANS, HELD_OUT)]
    if strangers:
        raise UserError(f"--output {folder}: holds {strangers[0]}, which is of no plan; give an empty or new folder")


def plan_id(about: Mapping[str, Any]) -> str:
    """The name of a plan: the hash of all that plan.json says, the hashes of its files among it."""
    value = {key: part for key, part in about.items() if key != "id"}
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def documents_id(documents: pa.Table) -> str:
    """Which documents are numbered: the same for plans of the same runs, whatever they train on."""
    sink = _Hashed()
    facts = documents.drop_columns(["reason"])
    schema = pa.schema([field for field in DOCUMENT_COLUMNS if field.name != "reason"])
    with pa.PythonFile(sink, mode="w") as stream, pa.ipc.new_stream(stream, schema) as writer:
        for start in range(0, len(facts), BATCH):
            writer.write_table(facts.slice(start, BATCH).combine_chunks().cast(schema))
    return sink.digest.hexdigest()


class _Hashed(io.RawIOBase):
    """A file of which only the hash is kept."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Take bytes."""
        self.digest.update(data)
        return len(data)


def write_arrow(path: Path, table: pa.Table, schema: pa.Schema) -> None:
    """An Arrow file, uncompressed, in batches of equal size: equal tables give equal bytes."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for start in range(0, len(table), BATCH):
            part = table.slice(start, BATCH).combine_chunks()
            writer.write_table(part.cast(schema), max_chunksize=BATCH)


def row_table(rows: Rows) -> pa.Table:
    """The columns of rows.arrow."""
    columns = (rows.dataset, rows.first_span, rows.n_spans, rows.n_tokens, rows.n_images)
    return _table(columns, ROW_COLUMNS)


def span_table(rows: Rows) -> pa.Table:
    """The columns of spans.arrow."""
    s = rows.spans
    columns = (s.document, s.token_start, s.token_stop, s.image_start, s.image_stop, s.carried, rows.repeat)
    return _table(columns, SPAN_COLUMNS)


def _table(columns: tuple[Any, ...], schema: pa.Schema) -> pa.Table:
    arrays = [
        pa.array(column.astype(np.bool_) if field.type == pa.bool_() else column).cast(field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
