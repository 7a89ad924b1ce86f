"""The kept text of documents of a run, as its files have it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from obelics_pipeline.document import PARAGRAPH_SEPARATOR
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.storage import open_parquet


def in_file_order(documents: pa.Table) -> pa.Table:
    """Rows of a survey, sorted by where their texts are: they are read in this order."""
    return documents.sort_by([("file", "ascending"), ("row", "ascending")])


def texts_of(folder: RunFolder, documents: pa.Table) -> Iterator[str]:
    """The kept text of each row of a survey that is in the order of its files; a row group is held at a time.

    A document without text has an empty one. Raises OSError or pa.ArrowException where a file is not there any more.
    """
    files, rows = documents["file"].to_pylist(), documents["row"].to_numpy()
    start = 0
    while start < len(files):
        end = start
        while end < len(files) and files[end] == files[start]:
            end += 1
        yield from _of_file(folder, files[start], rows[start:end])
        start = end


def _of_file(folder: RunFolder, file: str, rows: np.ndarray) -> Iterator[str]:
    with open_parquet(folder.path / file) as source:
        first = 0
        for group in range(source.num_row_groups):
            n = source.metadata.row_group(group).num_rows
            within = rows[(rows >= first) & (rows < first + n)] - first
            if len(within):
                for texts in source.read_row_group(group, columns=["texts"])["texts"].take(within).to_pylist():
                    yield PARAGRAPH_SEPARATOR.join(text for text in texts or () if text)
            first += n
