"""A row for each image of the documents of a run table: whose it is, what it is, and why it is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.document import IMAGE_MEASURES, PICTURE
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.run_tables.nodes import SCORE, column, nodes_of_kind, score_names

# Of every run table; a column of float64 per measure of a model (`PICTURE`) follows.
FIELDS = pa.schema(
    [
        ("document", pa.int64()),  # row in the table of documents
        ("node", pa.int32()),  # place among all nodes of the document
        ("role", pa.string()),
        ("reason", pa.string()),  # null where it was kept
        ("failed", pa.bool_()),  # the reason is a failure of the fetch, not a rule
        ("duplicate_of", pa.string()),  # the first document that has what was dropped as used too often
        ("host", pa.string()),  # of its URL, in lower case, without port; empty where there is none
        ("width", pa.int32()),  # pixels, as fetched; null where it was not
        ("height", pa.int32()),
        ("format", pa.string()),
        ("n_bytes", pa.int64()),
        ("similarity", pa.float64()),  # to the text next to it; null where no model measured it
        ("unsafe", pa.float64()),  # how likely it is unsafe; null where no classifier measured it
        *((name, pa.float64()) for name in IMAGE_MEASURES),  # of its pixels; null where they were not measured
    ]
)
_NAMES = {  # here -> in the files
    "width": "original_width",
    "height": "original_height",
    **{name: f"{SCORE}{name}" for name in IMAGE_MEASURES},
}
_HOST = r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(?P<host>\[[^\]/?#]*\]|[^/?#:]*)"


def image_tables(folder: RunFolder, documents: pa.Table) -> Iterator[pa.Table]:
    """The images of the documents of a run table, or of some rows of one, as the last stage left them.

    A table for each row group; one may have measures of models that another has not. An image that was kept may stand
    in a document that was dropped; what was fetched is known only in documents that met their images, which are in the
    files of assemble and score.
    """
    wanted = [name for name in FIELDS.names if name not in ("document", "node", "host", *_NAMES)]
    for nodes in nodes_of_kind(folder, documents, "image", [*wanted, *_NAMES.values(), "src"], SCORE + PICTURE):
        values = {
            field.name: column(nodes, _NAMES.get(field.name, field.name), field.type)
            for field in FIELDS
            if field.name != "host"
        }
        table = pa.table({**values, "host": hosts(nodes["src"])}).select(FIELDS.names).cast(FIELDS)
        for name in picture_measures(score_names(nodes)):
            table = table.append_column(name, nodes[SCORE + name])
        yield table


def picture_measures(names: Iterable[str]) -> list[str]:
    """Those of some columns that models measured of images."""
    return [name for name in names if name.startswith(PICTURE)]


def hosts(urls: pa.ChunkedArray) -> pa.ChunkedArray:
    """The host of each URL, as `FIELDS` says."""
    return pc.fill_null(pc.utf8_lower(pc.struct_field(pc.extract_regex(urls, _HOST), "host")), "")
