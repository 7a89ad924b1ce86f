"""OmniCorpus: `images` and `texts` as in OBELICS, `general_metadata` and `metadata` as values, not as JSON.

The columns are those in the cards of huggingface.co/datasets/OpenGVLab/OmniCorpus-CC and OmniCorpus-CC-210M:
`general_metadata` has `url`, `id`, `domain` and five probabilities, `metadata` an entry for each image with `width`,
`height` and more of the file that was looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from obelics_pipeline.core.document import ImageNode, Node
from obelics_pipeline.stages.rows.paragraphs import paragraphs
from obelics_pipeline.stages.rows.row_document import PROVENANCE, RowDocument
from obelics_pipeline.stages.rows.row_error import LENGTHS_DIFFER, NO_TEXT, NOT_ALIGNED, RowError
from obelics_pipeline.stages.rows.values import LARGEST, listed, mapped, refuse_unequal, string, strings

COLUMNS = ("general_metadata", "images", "texts", "metadata")


def document_of(row: Mapping[str, Any]) -> RowDocument:
    """The document of a row; a place without text and image is skipped. Raises RowError."""
    texts, images = strings("texts", row.get("texts")), strings("images", row.get("images"))
    if texts is None:
        raise RowError(NO_TEXT, "texts is null")
    images = images or [None] * len(texts)
    refuse_unequal(texts=texts, images=images)
    nodes: list[Node] = []
    for i, (text, image) in enumerate(zip(texts, images, strict=True)):
        if text and image:
            raise RowError(NOT_ALIGNED, f"place {i} has both")
        if image:
            nodes.append(ImageNode(image, image))
        elif text:
            nodes += paragraphs(text)
    _tell_sizes(nodes, listed("metadata", row.get("metadata")) or [], len(texts))
    general = mapped("general_metadata", row.get("general_metadata"))
    further = {key: value for key, value in general.items() if key not in PROVENANCE and _is_told(value)}
    return RowDocument(string(general.get("url")), nodes, [], further)


def _tell_sizes(nodes: list[Node], metadata: list[Any], n_places: int) -> None:
    """Give images the sizes of `metadata`, which has an entry for each of them, or one for each place."""
    images = [node for node in nodes if isinstance(node, ImageNode)]
    entries = [entry for entry in metadata if entry is not None] if len(metadata) == n_places else metadata
    if metadata and len(entries) != len(images):
        raise RowError(LENGTHS_DIFFER, f"metadata {len(metadata)}, images {len(images)}, places {n_places}")
    for image, entry in zip(images, entries, strict=False):
        if isinstance(entry, dict):
            image.original_width, image.original_height = (_side(entry.get(name)) for name in ("width", "height"))


def _side(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= LARGEST else None


def _is_told(value: Any) -> bool:
    """Whether a value is there; a number must be one that JSON has."""
    return value is not None and (not isinstance(value, float) or isfinite(value))
