"""MINT-1T: `texts` and `images` as in OBELICS, of web pages by address, of PDF files by the name of a picture.

The HTML subset is Parquet with the columns of huggingface.co/datasets/mlfoundations/MINT-1T-HTML (`url`, `cc_dump`,
`texts`, `images`; its other lists have another order, so they are not read). The PDF subsets are tars with a JSON
member and a TIFF for each document (MINT-1T-PDF-CC-2023-23 and its siblings): `images` names pictures, such as
`page_0_image_85`. A TIFF of one frame is read; frames of one of several are not taken apart, and are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obelics_pipeline.core.document import ImageNode, Node
from obelics_pipeline.stages.rows.paragraphs import paragraphs
from obelics_pipeline.stages.rows.row_document import RowDocument
from obelics_pipeline.stages.rows.row_error import NO_TEXT, NOT_ALIGNED, RowError
from obelics_pipeline.stages.rows.values import refuse_unequal, string, strings

COLUMNS = ("texts", "images", "url", "cc_dump", "pdf_name")
FILES = "__files__"  # key of the other members of a document in a tar: name after the key -> bytes
FRAMES = "picture_in_tiff"  # reason of an image, a failure
_KEPT = ("cc_dump", "pdf_name")
_WEB = ("http://", "https://")


def document_of(row: Mapping[str, Any]) -> RowDocument:
    """The document of a row; a place without text and image is skipped. Raises RowError."""
    texts, images = strings("texts", row.get("texts")), strings("images", row.get("images"))
    if texts is None:
        raise RowError(NO_TEXT, "texts is null")
    images = images or [None] * len(texts)
    refuse_unequal(texts=texts, images=images)
    files = _Files(row.get(FILES) or {}, sum(bool(image) for image in images))
    nodes: list[Node] = []
    pictures: list[bytes | None] = []
    for i, (text, image) in enumerate(zip(texts, images, strict=True)):
        if text and image:
            raise RowError(NOT_ALIGNED, f"place {i} has both")
        if image:
            node, picture = ImageNode(image, image), files.of(image)
            if picture is None and files.has_frames and not image.lower().startswith(_WEB):
                node.reason, node.failed = FRAMES, True
            nodes.append(node)
            pictures.append(picture)
        elif text:
            nodes += paragraphs(text)
    general = {key: row[key] for key in _KEPT if isinstance(row.get(key), str)}
    return RowDocument(string(row.get("url")), nodes, pictures, general)


class _Files:
    """The pictures of a document in a tar, by the names that `images` has."""

    def __init__(self, files: Mapping[str, bytes], n_images: int) -> None:
        self._files = dict(files)
        self._by_stem = {name.partition(".")[0]: data for name, data in files.items()}
        tiff = next((data for name, data in files.items() if name in ("tiff", "tif")), None)
        self._only = tiff if n_images == 1 else None
        self.has_frames = tiff is not None and n_images > 1

    def of(self, image: str) -> bytes | None:
        """The bytes of a picture, None where the tar has none of it."""
        if image.lower().startswith(_WEB):
            return None
        return self._files.get(image) or self._by_stem.get(image) or self._only
