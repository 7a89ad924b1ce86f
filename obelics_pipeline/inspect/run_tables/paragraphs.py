"""A row for each paragraph of the documents of a run table: what it is, its scores, and why it was dropped."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.document import is_image_measure
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.run_tables.nodes import SCORE, column, nodes_of_kind, score_names

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


def paragraph_tables(folder: RunFolder, documents: pa.Table) -> Iterator[pa.Table]:
    """The paragraphs of the documents of a run table, or of some rows of one, as the last stage left them.

    A table for each row group, so that what is held does not grow with the run; one may have scores that another has
    not (`pa.concat_tables(…, promote_options="default")` joins them). A paragraph that was kept may stand in a document
    that was dropped.
    """
    for nodes in nodes_of_kind(folder, documents, "text", ["role", "reason", "duplicate_of", "text"], SCORE):
        values = {
            "document": nodes["document"],
            "node": nodes["node"],
            **{name: column(nodes, name, pa.string()) for name in ("role", "reason", "duplicate_of")},
            "bytes": pc.fill_null(pc.binary_length(nodes["text"]), 0),
        }
        scores = {name: nodes[SCORE + name] for name in score_names(nodes) if not is_image_measure(name)}
        fields = [*FIELDS, *(pa.field(name, pa.float64()) for name in scores)]
        yield pa.table({**values, **scores}, schema=pa.schema(fields))


def paragraph_scores(paragraphs: pa.Table) -> list[str]:
    """The columns of a run table that are scores."""
    return [name for name in paragraphs.column_names if name not in FIELDS.names]
