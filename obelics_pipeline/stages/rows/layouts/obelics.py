"""The published OBELICS: `images`, `texts`, `metadata` and `general_metadata`, images by their addresses.

The columns are those of the card of huggingface.co/datasets/HuggingFaceM4/OBELICS: `images` and `texts` are of one
length, exactly one of the two is null at each place; `metadata` is JSON, a list of that length, and `general_metadata`
JSON with the page's URL and its WARC record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from obelics_pipeline.core.document import ImageNode, Node, make_doc_id
from obelics_pipeline.stages.rows.paragraphs import paragraphs
from obelics_pipeline.stages.rows.row_document import PROVENANCE, RowDocument, place_of
from obelics_pipeline.stages.rows.row_error import NO_TEXT, WRONG_TYPE, RowError
from obelics_pipeline.stages.rows.values import (
    image_facts,
    kind,
    listed,
    mapped,
    places,
    refuse_unequal,
    string,
    strings,
)

COLUMNS = ("images", "texts", "metadata", "general_metadata")


def document_of(row: Mapping[str, Any]) -> RowDocument:
    """The document of a row. Its id is the one that a run over the same WARC file gives. Raises RowError."""
    found = interleaved(row, strings("images", row.get("images")))
    if found.record is not None:
        found.doc_id = make_doc_id(found.record.filename, found.record.offset, part=found.general.get("part", 0))
    return found


def interleaved(row: Mapping[str, Any], images: Sequence[str | None] | None) -> RowDocument:
    """The document of a row in the published form; `images` are the addresses of its images. Raises RowError."""
    texts = strings("texts", row.get("texts"))
    if texts is None:
        raise RowError(NO_TEXT, "texts is null")
    nothing: list[Any] = [None] * len(texts)
    addresses = nothing if images is None else images
    metadata = listed("metadata", row.get("metadata"))
    refuse_unequal(texts=texts, images=addresses, metadata=metadata)
    metadata = nothing if metadata is None else metadata
    nodes: list[Node] = []
    caption = None
    for i, text, image in places(texts, addresses):
        if image is None:
            nodes += paragraphs(text or "", caption)
            caption = None
            continue
        about = metadata[i] or {}
        if not isinstance(about, dict):
            raise RowError(WRONG_TYPE, f"metadata at place {i} is {kind(about)}, not an object")
        nodes.append(ImageNode(image, string(about.get("unformatted_src")) or image, **image_facts(about)))
        caption = string(about.get("caption")) or None
    general = mapped("general_metadata", row.get("general_metadata"))
    further = {key: value for key, value in general.items() if key not in PROVENANCE and value is not None}
    return RowDocument(string(general.get("url")), nodes, [], further, record=place_of(general))
