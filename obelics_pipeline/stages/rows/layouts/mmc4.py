"""MMC4: sentences in `text_list`, images in `image_info`, each matched to a sentence.

The keys are those of the README of github.com/allenai/mmc4 (version 1.1). `image_base64` is what the shards have that
open_flamingo trains on (its `scripts/convert_mmc4_to_wds.py`). Where a paragraph ended is not in the data: the
sentences between two images are one.
"""

from __future__ import annotations

import base64
import binascii
from collections import defaultdict
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.stages.rows.row_document import RowDocument
from obelics_pipeline.stages.rows.row_error import BAD_INDEX, BROKEN_IMAGE, NO_TEXT, WRONG_TYPE, RowError
from obelics_pipeline.stages.rows.values import kind, listed, string, strings

COLUMNS = ("text_list", "image_info", "url", "could_have_url_duplicate")
_KEPT = ("could_have_url_duplicate",)


def document_of(row: Mapping[str, Any]) -> RowDocument:
    """The document of a row: an image stands before its sentence, several of one in their order. Raises RowError."""
    sentences = strings("text_list", row.get("text_list"))
    if not sentences:
        raise RowError(NO_TEXT, "text_list is empty")
    url = string(row.get("url"))
    before = _images(listed("image_info", row.get("image_info")) or [], len(sentences), url)
    nodes: list[Node] = []
    pictures: list[bytes | None] = []
    pending: list[str] = []
    for i, sentence in enumerate(sentences):
        if i in before and pending:
            nodes.append(TextNode(" ".join(pending)))
            pending = []
        nodes += [node for node, _ in before.get(i, ())]
        pictures += [picture for _, picture in before.get(i, ())]
        pending += [sentence.replace("\0", "")] if sentence else []
    if pending:
        nodes.append(TextNode(" ".join(pending)))
    return RowDocument(url, nodes, pictures, {key: row[key] for key in _KEPT if type(row.get(key)) is int})


def _images(infos: list[Any], sentences: int, url: str) -> dict[int, list[tuple[ImageNode, bytes | None]]]:
    """The images by the sentence that they are matched to."""
    found: dict[int, list[tuple[ImageNode, bytes | None]]] = defaultdict(list)
    for i, info in enumerate(infos):
        if not isinstance(info, dict):
            raise RowError(WRONG_TYPE, f"image_info at place {i} is {kind(info)}, not an object")
        at = info.get("matched_text_index")
        if type(at) is not int or not 0 <= at < sentences:
            raise RowError(BAD_INDEX, f"image_info at place {i}: matched_text_index is {str(at)[:20]}")
        written = string(info.get("raw_url")) or string(info.get("image_name"))
        node = ImageNode(_absolute(written, url), written)
        found[at].append((node, _decoded(info.get("image_base64"), i)))
    return found


def _absolute(written: str, url: str) -> str:
    try:
        return urljoin(url, written)
    except ValueError:  # a bracket that opens no address
        return written


def _decoded(text: Any, place: int) -> bytes | None:
    if text is None:
        return None
    try:
        return base64.b64decode(string(text).encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        raise RowError(BROKEN_IMAGE, f"image_info at place {place}: image_base64 is no base64") from None
