"""A row for each paragraph of the documents of a run table: what it is, its scores, and why it was dropped."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.document import IMAGE_MEASURES
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.run_tables.nodes import SCORE, column, nodes_of_kind

# Of every run table; a column of float64 per score follows, by the name of the score.
FIELDS = pa.schema(
    [
        ("document", pa.int64()),  # row in the table of documents
        ("node", pa.int32()),  # place among all nodes of the document
        ("role", pa.string()),
        ("reason", pa.string()),  # null where it was kept
        ("duplicate_of", pa.string()),  # the first document that has what was dropped as a repetition
        ("bytes", pa.int32()),  # UTF-8
    ]
)

_OF_IMAGES = {f"{SCORE}{name}" for name in IMAGE_MEASURES}


def paragraph_tables(folder: RunFolder, documents: pa.Table) -> Iterator[pa.Table]:
    """The paragraphs of the documents of a run table, or of some rows of one, as the last stage left them.

    A table for each row group, so that what is held does not grow with the run; one may have scores that another has
    not (`pa.concat_tables(…, promote_options="default")` joins them). A paragraph that was kept may stand in a document
    that was dropped.
    """
    for nodes in nodes_of_kind(folder, documents, "text", ["role", "reason", "duplicate_of", "text"], scores=True):
        values = {
            "document": nodes["document"],
            "node": nodes["node"],
            **{name: column(nodes, name, pa.string()) for name in ("role", "reason", "duplicate_of")},
            "bytes": pc.fill_null(pc.binary_length(nodes["text"]), 0),
        }
        names = [name for name in nodes.column_names if name.startswith(SCORE) and name not in _OF_IMAGES]
        fields = [*FIELDS, *(pa.field(name.removeprefix(SCORE), pa.float64()) for name in names)]
        scores = {name.removeprefix(SCORE): nodes[name] for name in names}
        yield pa.table({**values, **scores}, schema=pa.schema(fields))


def paragraph_scores(paragraphs: pa.Table) -> list[str]:
    """The columns of a run table that are scores."""
    return [name for name in paragraphs.column_names if name not in FIELDS.names]
