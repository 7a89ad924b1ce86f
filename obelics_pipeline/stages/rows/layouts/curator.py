"""NeMo Curator's interleaved Parquet: a row for each text and each picture, and one for the document.

Columns are those of INTERLEAVED_SCHEMA (`nemo_curator/tasks/interleaved.py`, nemo-curator 1.4): rows with one
`sample_id` stand together, `position` orders them, `modality` is metadata, text or image. Of the columns that travel
along those are read that our own export has (inspect/exported/interleaved_table.py); `url` is that of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obelics_pipeline.stages.rows.layouts import obelics
from obelics_pipeline.stages.rows.layouts.published import OUR_ID
from obelics_pipeline.stages.rows.row_document import RowDocument
from obelics_pipeline.stages.rows.row_error import NO_TEXT, WRONG_TYPE, RowError
from obelics_pipeline.stages.rows.values import kind, mapped, string

SAMPLE, POSITION = "sample_id", "position"
OF_DOCUMENT = -1  # the position of the row that is the document's
ROWS = "__rows__"  # key of the rows of a document
COLUMNS = (
    SAMPLE, POSITION, "modality", "text_content", "binary_content", "url", "general_metadata", "image_url",
    "image_metadata",
)  # fmt: skip


def document_of(values: Mapping[str, Any]) -> RowDocument:
    """The document of the rows under `ROWS`. It keeps an id of ours. Raises RowError."""
    rows = sorted(values[ROWS], key=_position)
    items = [row for row in rows if row.get("modality") != "metadata"]
    if not items:
        raise RowError(NO_TEXT, "no row of a text")
    general: Mapping[str, Any] = next((row for row in rows if row.get("general_metadata") is not None), {})
    found = obelics.interleaved(
        {
            "texts": [_text(row) for row in items],
            "metadata": [mapped("image_metadata", row.get("image_metadata")) or None for row in items],
            "general_metadata": general.get("general_metadata"),
        },
        [_address(row) for row in items],
    )
    found.url = next((url for row in rows if (url := string(row.get("url")))), found.url)
    found.pictures = [_bytes(row) for row in items if row["modality"] == "image"]
    sample = string(rows[0].get(SAMPLE))
    found.doc_id = sample if OUR_ID.fullmatch(sample) else None
    return found


def _position(row: Mapping[str, Any]) -> int:
    position = row.get(POSITION)
    if type(position) is not int:
        raise RowError(WRONG_TYPE, f"{POSITION} is {kind(position)}, not a number")
    return position


def _text(row: Mapping[str, Any]) -> str | None:
    if row.get("modality") not in ("text", "image"):
        modality = str(row.get("modality"))[:40]
        raise RowError(WRONG_TYPE, f"modality {modality!a} at position {row[POSITION]}, not metadata, text or image")
    if row["modality"] == "image":
        return None
    if not isinstance(row.get("text_content"), str):
        raise RowError(WRONG_TYPE, f"text_content at position {row[POSITION]} is {kind(row.get('text_content'))}")
    return string(row["text_content"])


def _address(row: Mapping[str, Any]) -> str | None:
    """Of a picture without an address, its place: it must come with its bytes."""
    if row["modality"] != "image":
        return None
    return string(row.get("image_url")) or f"{string(row.get(SAMPLE))}/{row[POSITION]}"


def _bytes(row: Mapping[str, Any]) -> bytes | None:
    content = row.get("binary_content")
    if content is not None and not isinstance(content, bytes):
        raise RowError(WRONG_TYPE, f"binary_content at position {row[POSITION]} is {kind(content)}, not bytes")
    return content
