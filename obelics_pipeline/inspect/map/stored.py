"""The files of a map in the folder of a run: `map/points.parquet` and `map/labels.parquet`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import pyarrow as pa

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import read_table, size_of, write_table
from obelics_pipeline.inspect.map.projected import Projected

FORMAT = 1  # raised where the same documents give another map than before
MADE_OF = b"obelics_map"  # key of the schema's metadata: the digest of what a map is made of

POINTS = pa.schema(
    [
        ("doc_id", pa.string()),
        ("x", pa.float32()),  # null where the document has no words
        ("y", pa.float32()),
        ("cell", pa.int32()),
    ]
)
LABELS = pa.schema(
    [
        ("cell", pa.int32()),
        ("x", pa.float32()),  # of the document nearest to the cell's middle
        ("y", pa.float32()),
        ("words", pa.list_(pa.string())),  # most its own first
        ("documents", pa.int32()),  # of the cell
    ]
)


@dataclass(frozen=True)
class CorpusMap:
    """The points, in the order of their ids, and the names of the cells, in the order of their numbers."""

    points: pa.Table
    labels: pa.Table


def digest_of(documents: pa.Table) -> str:
    """A digest of the rows of a run table that a map shows: their documents and the names of their files, which are
    hashes.
    """
    digest = hashlib.sha256(f"map {FORMAT}\n".encode())
    rows = documents.select(["doc_id", "file", "row"]).sort_by("doc_id")
    for doc_id, file, row in zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True):
        digest.update(f"{doc_id} {file} {row}\n".encode())
    return digest.hexdigest()


def to_tables(doc_ids: pa.Array, projected: Projected) -> CorpusMap:
    """The tables of a map; `doc_ids` are those of its rows."""
    placed = projected.cells >= 0
    x, y = (pa.array(projected.points[:, axis], pa.float32(), mask=~placed) for axis in (0, 1))
    points = pa.table([doc_ids, x, y, pa.array(projected.cells, pa.int32(), mask=~placed)], schema=POINTS)
    rows = [
        {"cell": label.cell, "x": label.x, "y": label.y, "words": list(label.words), "documents": label.documents}
        for label in projected.labels
    ]
    return CorpusMap(points, pa.Table.from_pylist(rows, schema=LABELS))


def write_map(folder: RunFolder, found: CorpusMap, digest: str) -> None:
    """Write both files, whole; the points last, whose digest a reader asks for."""
    for name, table in (("labels", found.labels), ("points", found.points)):
        write_table(table.replace_schema_metadata({MADE_OF: digest.encode()}), folder.map / f"{name}.parquet")


def read_map(folder: RunFolder, digest: str | None = None) -> CorpusMap | None:
    """The map of a run; None if it is missing, its two files are not of one map, or it has another digest."""
    places = [folder.map / f"{name}.parquet" for name in ("points", "labels")]
    if any(size_of(place) is None for place in places):
        return None
    points, labels = map(read_table, places)
    of = {(table.schema.metadata or {}).get(MADE_OF) for table in (points, labels)}
    if len(of) != 1 or None in of or (digest is not None and of != {digest.encode()}):
        return None
    return CorpusMap(points, labels)
