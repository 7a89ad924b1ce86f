"""What `obelics publish` writes: the columns of OBELICS, the bytes of images in `images`, addresses in `image_urls`.

See inspect/published/table.py. A document keeps its id, so that what was forgotten, or is a duplicate, stays it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from obelics_pipeline.stages.rows.layouts import obelics
from obelics_pipeline.stages.rows.row_document import RowDocument
from obelics_pipeline.stages.rows.row_error import NOT_ALIGNED, WRONG_TYPE, RowError
from obelics_pipeline.stages.rows.values import kind, refuse_unequal, string, strings

COLUMNS = ("doc_id", "texts", "images", "image_urls", "metadata", "general_metadata")
OUR_ID = re.compile(r"[0-9a-f]{32}")  # see core/document.py


def document_of(row: Mapping[str, Any]) -> RowDocument:
    """The document of a row. Raises RowError."""
    urls = strings("image_urls", row.get("image_urls"))
    found = obelics.interleaved(row, urls)
    pictures = row.get("images")
    if pictures is not None and urls is not None:
        if not isinstance(pictures, list):
            raise RowError(WRONG_TYPE, f"images is {kind(pictures)}, not a list")
        refuse_unequal(images=pictures, image_urls=urls)
        if any(picture is not None and url is None for picture, url in zip(pictures, urls, strict=True)):
            raise RowError(NOT_ALIGNED, "an image stands where a text does")
        found.pictures = [_bytes(picture) for picture, url in zip(pictures, urls, strict=True) if url is not None]
    found.doc_id = string(row.get("doc_id"))
    if not OUR_ID.fullmatch(found.doc_id):
        raise RowError(WRONG_TYPE, f"doc_id {found.doc_id[:40]!a} is none of ours: 32 hexadecimal digits")
    return found


def _bytes(picture: Any) -> bytes | None:
    if picture is None:
        return None
    content = picture.get("bytes") if isinstance(picture, dict) else None
    if not isinstance(content, bytes):
        raise RowError(WRONG_TYPE, f"an image is {kind(picture)} without bytes")
    return content
