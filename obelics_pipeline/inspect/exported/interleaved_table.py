"""NeMo Curator's interleaved Parquet: a row for each text and each picture, and one for the document.

Columns and their types are those of `nemo_curator/tasks/interleaved.py` (INTERLEAVED_SCHEMA; nemo-curator 1.4, and its
README of stages/interleaved): the row at position -1 is the document's, and columns of others travel along.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.shards.source import StoredDocument
from obelics_pipeline.core.storage import Location
from obelics_pipeline.inspect.exported.format import Format, nothing_beside
from obelics_pipeline.inspect.exported.row_groups import document_groups
from obelics_pipeline.stages.rows.layouts.curator import OF_DOCUMENT

SCHEMA = pa.schema(
    [
        pa.field("sample_id", pa.string(), nullable=False),
        pa.field("position", pa.int32(), nullable=False),
        pa.field("modality", pa.string(), nullable=False),
        ("content_type", pa.string()),
        ("text_content", pa.string()),
        ("binary_content", pa.large_binary()),
        ("source_ref", pa.string()),  # null: the bytes are here
        ("materialize_error", pa.string()),
        # Ours. Of documents:
        ("url", pa.string()),
        ("language", pa.string()),
        ("page_type", pa.string()),
        ("general_metadata", pa.string()),  # JSON
        ("scores", pa.string()),  # JSON: a number or null by name
        # Of pictures:
        ("image_url", pa.string()),
        ("image_metadata", pa.string()),  # JSON
    ]
)
_TYPES = {"jpg": "image/jpeg"}  # by extension; of other formats the extension is the type's name


def write_interleaved(path: Path, documents: Iterator[StoredDocument]) -> None:
    """Write a file; a document's rows stand together. Equal documents give equal bytes.

    Raises KeyError for a record that lacks a key, or names a file that it does not have.
    """
    packed = {name: "none" if name == "binary_content" else "zstd" for name in SCHEMA.names}  # pictures are packed
    with pq.ParquetWriter(path, SCHEMA, compression=packed, write_page_checksum=True) as writer:
        for group in document_groups(documents):
            rows = [row for document in group for row in rows_of(document)]
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))


def count_interleaved(path: Path) -> int:
    """Documents of a file: its rows of documents. Every column is read. Raises ArrowException where one cannot be."""
    count = 0
    with pq.ParquetFile(path, page_checksum_verification=True) as source:
        for group in range(source.num_row_groups):
            count += source.read_row_group(group)["position"].to_pylist().count(OF_DOCUMENT)
    return count


def rows_of(document: StoredDocument) -> Iterator[dict[str, Any]]:
    """The rows of a document. Raises KeyError as `write_interleaved`."""
    value = document.value
    about = {
        "content_type": "application/json",
        "url": document.row["url"],
        "language": value["language"],
        "page_type": document.row.get("page_type"),  # an index of an earlier version lacks it
        "general_metadata": value["general_metadata"],
        "scores": to_json(value["scores"]),
    }
    yield _row(document, OF_DOCUMENT, "metadata") | about
    places = zip(value["texts"], value["images"], value["files"], document.metadata(), strict=True)
    for position, (text, url, name, metadata) in enumerate(places):
        if text is not None:
            yield _row(document, position, "text") | {"content_type": "text/plain", "text_content": text}
            continue
        yield _row(document, position, "image") | {
            "content_type": content_type(name),
            "binary_content": None if name is None else document.images[name],
            "image_url": url,
            "image_metadata": to_json(metadata),
        }


def content_type(name: str | None) -> str | None:
    """The MIME type of a picture by the name of its file."""
    if name is None:
        return None
    extension = name.rpartition(".")[2]
    return _TYPES.get(extension, f"image/{extension}")


def _row(document: StoredDocument, position: int, modality: str) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(SCHEMA.names)
    return empty | {"sample_id": document.record.doc_id, "position": position, "modality": modality}


def _opens(output: Location) -> str:
    return f'InterleavedParquetReader(file_paths="{output}")'


CURATOR = Format("curator", "part-{number:06d}.parquet", write_interleaved, count_interleaved, nothing_beside, _opens)
