"""The kept text of the documents of a run table, as their files have it."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.run_tables.rows import row_groups


def in_file_order(documents: pa.Table) -> pa.Table:
    """Rows of a run table, sorted by where their texts are: `texts_of` then gives them as they stand."""
    return documents.sort_by([("file", "ascending"), ("row", "ascending")])


def texts_of(folder: RunFolder, documents: pa.Table) -> Iterator[tuple[int, str]]:
    """The row in the table and the kept text of each document of a run table, or of some rows of one, file by file.

    A document without text has an empty one. A row group is held at a time. Raises OSError or pa.ArrowException where a
    file is not there any more.
    """
    for table, places in row_groups(folder, documents, lambda _: ["texts.list.element"]):
        for texts, place in zip(table["texts"].to_pylist(), places.tolist(), strict=True):
            yield place, PARAGRAPH_SEPARATOR.join(text for text in texts or () if text)
