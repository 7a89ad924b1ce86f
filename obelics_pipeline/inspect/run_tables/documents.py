"""A row for each document that was extracted: what it is, its scores, and where and why it ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, open_parquet, read_table
from obelics_pipeline.inspect.run_tables.folders import (
    committed_units,
    counting_documents,
    document_folders,
    duplicates_file,
)
from obelics_pipeline.inspect.run_tables.training import with_training
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.jobs.stages import STAGES
from obelics_pipeline.net.registered_domain import site_of_url

BYTES_PER_TOKEN = 4.0  # of UTF-8: what the tokenizers of language models come to on English web text, about

_ORDER = b"stages"  # of the metadata of a run table's schema

Measure = Callable[[pa.Array], pa.Array]

# Of every run table; a column of float64 per score follows.
FIELDS = pa.schema(
    [
        ("doc_id", pa.string()),
        ("url", pa.string()),
        ("site", pa.string()),  # registered domain
        ("month", pa.string()),  # of the capture: 2024-05; null where the record has no date
        ("language", pa.string()),
        ("page_type", pa.string()),  # null where no main content was found
        ("stage", pa.string()),  # that dropped it, see stages_of; null where it was kept
        ("reason", pa.string()),  # null where it was kept
        ("duplicate_of", pa.string()),  # the document that is kept in place of a duplicate
        ("images", pa.int32()),  # that it keeps
        ("bytes", pa.int64()),  # UTF-8, of the text that it keeps
        ("file", pa.string()),  # the last that has it, below the run's folder
        ("row", pa.int32()),  # in that file
    ]
)


def document_table(folder: RunFolder) -> pa.Table:
    """The documents of a run in the order of its input, each as the last stage that had it left it.

    Works for a run that has not finished. Raises UserError for a folder without extracted documents, and for one that
    another version wrote.
    """
    folder.refuse_other_format()
    if not committed_units(folder, folder.extract):
        raise UserError(f"{folder.path}: not the folder of a run, or its first unit is not done yet; see: obelics run")
    parts = [part for stage, place in document_folders(folder) for part in _of_stage(folder, stage, place)]
    table = pa.concat_tables([FIELDS.empty_table(), *parts], promote_options="default")
    documents = _with_duplicates(folder, table.take(_last_of_each(table["doc_id"])))
    order = ",".join(counting_documents(stages_in(folder)))
    return with_training(folder, documents).replace_schema_metadata({_ORDER: order})


def stages_of(documents: pa.Table) -> tuple[str, ...]:
    """The stages that may have dropped a document of a run table, in their order."""
    noted = (documents.schema.metadata or {}).get(_ORDER)
    return tuple(counting_documents(STAGES) if noted is None else noted.decode().split(","))


def score_names(documents: pa.Table) -> list[str]:
    """The columns of a run table that are scores."""
    return [name for name in documents.column_names if name not in FIELDS.names]


def _of_stage(folder: RunFolder, stage: str, place: Location) -> Iterator[pa.Table]:
    for manifest in committed_units(folder, place):
        file = manifest.path(place, "data")
        with open_parquet(file) as source:
            yield from _of_file(source, stage, f"{place.name}/{file.name}")


def _of_file(source: pq.ParquetFile, stage: str, file: str) -> Iterator[pa.Table]:
    scores = [field.name for field in source.schema_arrow if pa.types.is_floating(field.type)]
    columns = ["doc_id", "general_metadata", "reason", "language", "texts", "images", *scores]
    start = 0
    for group in range(source.num_row_groups):
        table = source.read_row_group(group, columns=columns)
        yield _rows(table, scores, stage, file, start)
        start += table.num_rows


def _rows(table: pa.Table, scores: list[str], stage: str, file: str, start: int) -> pa.Table:
    n = table.num_rows
    general = [json.loads(text) for text in table["general_metadata"].to_pylist()]
    urls = [str(values.get("url") or "") for values in general]
    kept = table["reason"].is_null()
    columns = {
        "doc_id": table["doc_id"],
        "url": pa.array(urls, pa.string()),
        "site": pa.array([site_of_url(url) for url in urls], pa.string()),
        "month": pa.array([_month(values.get("warc_date")) for values in general], pa.string()),
        "language": table["language"],
        "page_type": pa.array([_text(values.get("page_type")) for values in general], pa.string()),
        "stage": pc.if_else(kept, pa.scalar(None, pa.string()), pa.scalar(stage)),
        "reason": table["reason"],
        "duplicate_of": pa.nulls(n, pa.string()),
        "images": pa.array(_sums(table["images"], pc.is_valid), pa.int32()),
        "bytes": pa.array(_sums(table["texts"], pc.binary_length), pa.int64()),
        "file": pa.array([file] * n, pa.string()),
        "row": pa.array(range(start, start + n), pa.int32()),
    }
    fields = [*FIELDS, *(pa.field(name, pa.float64()) for name in scores)]
    return pa.table({**columns, **{name: table[name] for name in scores}}, schema=pa.schema(fields))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _month(date: object) -> str | None:
    """2024-05 of the WARC's 2024-05-17T08:00:00Z."""
    return date[:7] if isinstance(date, str) and len(date) >= 7 else None


def _sums(lists: pa.ChunkedArray, measure: Measure) -> NDArray[np.int64]:
    """The sum over each list of what is measured of its values; a null value counts nothing."""
    if lists.null_count == len(lists):
        return np.zeros(len(lists), np.int64)
    values = pc.fill_null(measure(pc.list_flatten(lists)).cast(pa.int64()), 0)
    ends = np.cumsum(pc.fill_null(pc.list_value_length(lists), 0).to_numpy())
    up_to = np.concatenate([[0], np.cumsum(values.to_numpy())])
    sums: NDArray[np.int64] = np.diff(up_to[np.concatenate([[0], ends])])
    return sums


def _last_of_each(ids: pa.ChunkedArray) -> NDArray[np.int64]:
    """The index of the last row of each id, in the order in which ids first occur."""
    codes = ids.combine_chunks().dictionary_encode().indices.to_numpy()
    last = np.zeros(codes.max() + 1 if len(codes) else 0, np.int64)
    np.maximum.at(last, codes, np.arange(len(codes)))
    return last


def _with_duplicates(folder: RunFolder, documents: pa.Table) -> pa.Table:
    """Documents that the last comparison left out have passed everything before it."""
    path = duplicates_file(folder)
    if path is None:
        return documents
    rows = read_table(path, ["doc_id", "reason", "duplicate_of"])
    at = pc.index_in(documents["doc_id"], rows["doc_id"])
    lost = at.is_valid()
    stage = {"stage": pa.scalar(stages_in(folder)[-1].name)}
    found = {name: rows[name].take(at) for name in ("reason", "duplicate_of")} | stage
    for name, values in found.items():
        documents = documents.set_column(
            documents.column_names.index(name), FIELDS.field(name), pc.if_else(lost, values, documents[name])
        )
    return documents
