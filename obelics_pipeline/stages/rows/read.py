"""The rows of a task, each a document of its layout or the reason against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.storage import Location, location
from obelics_pipeline.stages.rows.files.json_lines import json_lines
from obelics_pipeline.stages.rows.files.parquet_rows import parquet_rows
from obelics_pipeline.stages.rows.files.raw_row import MayRead, RawRow, always
from obelics_pipeline.stages.rows.files.sample_rows import sample_rows
from obelics_pipeline.stages.rows.files.tar_rows import tar_rows
from obelics_pipeline.stages.rows.layouts.layout import LAYOUTS, PARQUET, TAR
from obelics_pipeline.stages.rows.row_document import RowDocument, checked
from obelics_pipeline.stages.rows.row_error import REPEATED_ID, RowError
from obelics_pipeline.stages.rows.task import RowsTask

Options = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Row:
    """A row, or the first of a document's rows, by its number in the file, from 0."""

    number: int
    document: RowDocument | RowError


def read_rows(task: RowsTask, options: Options, may_read: MayRead = always) -> Iterator[Row]:
    """The rows of a task in the order of the file; `options` are those of the fsspec file systems.

    Of rows with one id the first counts. Raises OSError where the file cannot be read.
    """
    document_of = LAYOUTS[task.layout].document_of
    ids: set[str] = set()
    for raw in _raw_rows(location(task.path, options), task, may_read):
        try:
            if isinstance(raw.values, RowError):
                raise raw.values
            found = checked(document_of(raw.values))
            if found.doc_id in ids:
                raise RowError(REPEATED_ID, str(found.doc_id))
        except RowError as error:
            yield Row(raw.number, error)
            continue
        ids |= {found.doc_id} if found.doc_id is not None else set()
        yield Row(raw.number, found)


def _raw_rows(where: Location, task: RowsTask, may_read: MayRead) -> Iterator[RawRow]:
    name, layout = where.name.lower(), LAYOUTS[task.layout]
    if layout.sample is not None:
        return sample_rows(where, task.start, task.end, layout.columns, layout.sample, may_read)
    if name.endswith(PARQUET):
        return parquet_rows(where, task.start, task.end, layout.columns, may_read)
    return tar_rows(where, may_read) if name.endswith(TAR) else json_lines(where, may_read)
