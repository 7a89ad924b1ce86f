"""Documents as Parquet: the working columns that stages hand to each other, the published ones among them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode, general_metadata, interleave, to_json
from obelics_pipeline.core.storage import Location, open_parquet, read_schema

PUBLISHED = pa.schema(
    [
        ("images", pa.list_(pa.string())),
        ("metadata", pa.string()),
        ("general_metadata", pa.string()),
        ("texts", pa.list_(pa.string())),
    ]
)  # names and order of HuggingFaceM4/OBELICS

_NODE_FIELDS: dict[str, pa.DataType] = {
    "kind": pa.string(),  # text or image
    "role": pa.string(),
    "reason": pa.string(),  # null while kept
    "failed": pa.bool_(),
    "duplicate_of": pa.string(),  # doc_id of the first document that has what was dropped as a repetition
    "post": pa.int32(),  # number of the post of a thread that it is of, null on other pages
    "text": pa.string(),
    "src": pa.string(),
    "unformatted_src": pa.string(),
    "alt_text": pa.string(),
    "formatted_filename": pa.string(),
    "rendered_width": pa.string(),  # digits, or a percentage
    "rendered_height": pa.string(),
    "position": pa.int32(),  # characters of the page before an image
    "original_width": pa.int32(),
    "original_height": pa.int32(),
    "format": pa.string(),
    "sha256": pa.string(),
    "n_bytes": pa.int64(),
    "phash": pa.string(),
    "similarity": pa.float64(),
    "unsafe": pa.float64(),
    "pack": pa.string(),  # where the run has the bytes
    "offset": pa.int64(),
}
_IMAGE_FIELDS = tuple(
    name for name in _NODE_FIELDS if name not in ("kind", "role", "reason", "failed", "duplicate_of", "post", "text")
)
_PROVENANCE = ("url", "warc_filename", "warc_record_offset", "warc_record_length")

ROWS_PER_GROUP = 256  # documents of one row group at most
CHARACTERS_PER_GROUP = 8_000_000  # or this much text: bounds the memory of a writer and of a reader


def document_schema(score_names: Sequence[str], paragraph_score_names: Sequence[str]) -> pa.Schema:
    """The columns of `extract/*.parquet`: the published ones, ours, one per score, and the nodes."""
    fields = [pa.field("doc_id", pa.string()), *PUBLISHED]
    fields += [pa.field("reason", pa.string()), pa.field("language", pa.string())]
    fields += [pa.field(name, pa.float64()) for name in score_names]
    return pa.schema([*fields, pa.field("nodes", pa.list_(_node_type(paragraph_score_names)))])


def _node_type(paragraph_score_names: Sequence[str]) -> pa.StructType:
    scores = [pa.field(f"score_{name}", pa.float64()) for name in paragraph_score_names]
    return pa.struct([*(pa.field(name, kind) for name, kind in _NODE_FIELDS.items()), *scores])


class DocumentWriter:
    """Writes documents to one Parquet file, a bounded row group at a time. Use as a context manager."""

    def __init__(self, path: Path, score_names: Sequence[str], paragraph_score_names: Sequence[str]) -> None:
        self._score_names, self._paragraph_score_names = tuple(score_names), tuple(paragraph_score_names)
        self._schema = document_schema(score_names, paragraph_score_names)
        self._sink = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._pending: list[Document] = []
        self._characters = 0

    def __enter__(self) -> DocumentWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        if kind is None:
            self._flush()
        self._sink.close()

    def write(self, document: Document) -> None:
        """Add a document; where the row group ends depends on the documents alone."""
        self._pending.append(document)
        self._characters += sum(len(n.text) if isinstance(n, TextNode) else 200 for n in document.nodes)
        if len(self._pending) >= ROWS_PER_GROUP or self._characters >= CHARACTERS_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            self._sink.write_table(
                _to_table(self._pending, self._schema, self._score_names, self._paragraph_score_names)
            )
            self._pending, self._characters = [], 0


def _to_table(
    documents: Sequence[Document], schema: pa.Schema, score_names: Sequence[str], paragraph_score_names: Sequence[str]
) -> pa.Table:
    published = [interleave(d.nodes, d.url) for d in documents]
    columns: list[Any] = [
        [d.doc_id for d in documents],
        [p.images for p in published],
        [to_json(p.metadata) for p in published],
        [to_json(general_metadata(d)) for d in documents],
        [p.texts for p in published],
        [d.reason for d in documents],
        [d.language for d in documents],
        *([_finite(d.scores.get(name)) for d in documents] for name in score_names),
    ]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=False)]
    return pa.Table.from_arrays([*arrays, _node_array(documents, paragraph_score_names)], schema=schema)


def _finite(score: float | None) -> float | None:
    """A score as it is written: readers compare it, and JSON has no NaN. The reason of its document tells."""
    return None if score is None or not isfinite(score) else score


def _node_array(documents: Sequence[Document], paragraph_score_names: Sequence[str]) -> pa.ListArray:
    """The nodes of all documents, built column by column: several times faster than from a dict per node."""
    offsets, nodes = [0], []
    for document in documents:
        nodes += document.nodes
        offsets.append(len(nodes))
    columns: dict[str, list[Any]] = {
        "kind": ["text" if isinstance(n, TextNode) else "image" for n in nodes],
        "role": [n.role for n in nodes],
        "reason": [n.reason for n in nodes],
        "failed": [isinstance(n, ImageNode) and n.failed for n in nodes],
        "duplicate_of": [n.duplicate_of for n in nodes],
        "post": [n.post for n in nodes],
        "text": [n.text if isinstance(n, TextNode) else None for n in nodes],
    }
    scores = [n.scores for n in nodes]
    for name in paragraph_score_names:
        columns[f"score_{name}"] = [of_node.get(name) for of_node in scores]
    kind = _node_type(paragraph_score_names)
    of_images = _image_arrays(nodes)
    arrays = [
        of_images[field.name] if field.name in of_images else pa.array(columns[field.name], field.type)
        for field in kind
    ]
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.StructArray.from_arrays(arrays, fields=list(kind))
    )


def _image_arrays(nodes: Sequence[Node]) -> dict[str, pa.Array]:
    """The columns of image nodes, null at texts. Most nodes are texts, so the values are spread out by Arrow."""
    images = [n for n in nodes if isinstance(n, ImageNode)]
    number = iter(range(len(images)))
    at = pa.array([next(number) if isinstance(n, ImageNode) else None for n in nodes], pa.int64())
    arrays = {}
    for name in _IMAGE_FIELDS:
        values = [getattr(image, name) for image in images]
        if name in ("rendered_width", "rendered_height"):
            values = [None if v is None else str(v) for v in values]
        arrays[name] = pa.array(values, _NODE_FIELDS[name]).take(at)
    return arrays


def score_columns(path: Location) -> tuple[list[str], list[str]]:
    """The names of the document and the paragraph scores in a file of documents."""
    return _scores_of(read_schema(path))


def _scores_of(schema: pa.Schema) -> tuple[list[str], list[str]]:
    nodes = schema.field("nodes").type.value_type
    paragraph = [field.name.removeprefix("score_") for field in nodes if field.name.startswith("score_")]
    return [field.name for field in schema if pa.types.is_floating(field.type)], paragraph


def read_documents(path: Location, start: int = 0, stop: int | None = None) -> Iterator[Document]:
    """The documents of one file, in order; `start` and `stop` are rows. One row group is held at a time."""
    with open_parquet(path) as source:
        score_names, _ = _scores_of(source.schema_arrow)
        row = 0
        for group in range(source.num_row_groups):
            n = source.metadata.row_group(group).num_rows
            if row + n > start and (stop is None or row < stop):
                first, last = max(start - row, 0), n if stop is None else min(stop - row, n)
                rows = source.read_row_group(group, columns=_columns(score_names)).slice(first, last - first)
                for value in rows.to_pylist():
                    yield _from_row(value, score_names)
            row += n


def read_kept(path: Location) -> Iterator[Document]:
    """The kept documents of one file, in order."""
    with open_parquet(path) as source:
        score_names, _ = _scores_of(source.schema_arrow)
        for _rows, table in _kept_in(source, _columns(score_names)):
            for value in table.to_pylist():
                yield _from_row(value, score_names)


def kept_rows(path: Location, columns: Sequence[str]) -> Iterator[tuple[list[int], pa.Table]]:
    """Some columns of the kept documents, a row group at a time, with their rows in the file."""
    with open_parquet(path) as source:
        yield from _kept_in(source, columns)


def _kept_in(source: pq.ParquetFile, columns: Sequence[str]) -> Iterator[tuple[list[int], pa.Table]]:
    start = 0
    for group in range(source.num_row_groups):
        table = source.read_row_group(group, columns=list(dict.fromkeys([*columns, "reason"])))
        kept = pc.indices_nonzero(table["reason"].is_null())
        yield [start + i for i in kept.to_pylist()], table.take(kept).select(columns)
        start += table.num_rows


def _columns(score_names: Iterable[str]) -> list[str]:
    return ["doc_id", "general_metadata", "reason", "language", *score_names, "nodes"]


def _from_row(row: dict[str, Any], score_names: Iterable[str]) -> Document:
    general = json.loads(row["general_metadata"])
    provenance = {key: general.pop(key) for key in _PROVENANCE}
    return Document(
        doc_id=row["doc_id"],
        nodes=[_from_node(node) for node in row["nodes"]],
        general=general,
        language=row["language"],
        scores={name: row[name] for name in score_names},
        reason=row["reason"],
        **provenance,
    )


def _from_node(value: dict[str, Any]) -> Node:
    scores = {k[6:]: v for k, v in value.items() if k.startswith("score_") and v is not None}
    if value["kind"] == "text":
        return TextNode(value["text"], value["role"], value["reason"], scores, value["duplicate_of"], value.get("post"))
    common = {name: value[name] for name in ("role", "reason", "failed", "duplicate_of")}
    image = ImageNode(**common, **_image_values(value), post=value.get("post"), scores=scores)
    image.rendered_width = _rendered(value["rendered_width"])
    image.rendered_height = _rendered(value["rendered_height"])
    return image


def _image_values(value: dict[str, Any]) -> dict[str, Any]:
    """The fields of an image; those that a file of an earlier version lacks become None."""
    return {name: value.get(name) for name in _IMAGE_FIELDS}


def _rendered(value: str | None) -> int | str | None:
    """A declared size: pixels, or a percentage as written."""
    return value if value is None or "%" in value else int(value)
