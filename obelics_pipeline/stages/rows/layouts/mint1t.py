"""MINT-1T: `texts` and `images` as in OBELICS, of web pages by address, of PDF files by the name of a picture.

The HTML subset is Parquet with the columns of huggingface.co/datasets/mlfoundations/MINT-1T-HTML (`url`, `cc_dump`,
`texts`, `images`; its other lists have another order, so they are not read). The PDF subsets are tars with a JSON
member and a TIFF for each document (MINT-1T-PDF-CC-2023-23 and its siblings): `images` names pictures, such as
`page_0_image_85` of page 0 and object 85 (`page` and `xref` of `image_metadata`), and the TIFF has a frame for each
object of `image_metadata`, in its order. Without these objects frames are those of `images` in order, as NeMo Curator
reads them. Where there are more frames or fewer nobody can tell which is which: such pictures fail.

In the tars that we export (inspect/exported/mint_tar.py) each picture is a member, and `images` names members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from obelics_pipeline.core.document import ImageNode, Node
from obelics_pipeline.policy.image_safety.tiff import pictures
from obelics_pipeline.stages.rows.paragraphs import paragraphs
from obelics_pipeline.stages.rows.row_document import RowDocument
from obelics_pipeline.stages.rows.row_error import NO_TEXT, NOT_ALIGNED, RowError
from obelics_pipeline.stages.rows.values import refuse_unequal, string, strings

COLUMNS = ("texts", "images", "url", "cc_dump", "pdf_name")
FILES = "__files__"  # key of the other members of a document in a tar: name after the key -> bytes
FRAMES = "picture_in_tiff"  # reason of an image, a failure: its frame cannot be cut out, or told from others
_KEPT = ("cc_dump", "pdf_name")
_WEB = ("http://", "https://")


def document_of(row: Mapping[str, Any]) -> RowDocument:
    """The document of a row; a place without text and image is skipped. Raises RowError."""
    texts, images = strings("texts", row.get("texts")), strings("images", row.get("images"))
    if texts is None:
        raise RowError(NO_TEXT, "texts is null")
    images = images or [None] * len(texts)
    refuse_unequal(texts=texts, images=images)
    files = _files_of(row)
    found = _pictures([image for image in images if image], files, row.get("image_metadata"))
    nodes: list[Node] = []
    carried: list[bytes | None] = []
    for i, (text, image) in enumerate(zip(texts, images, strict=True)):
        if text and image:
            raise RowError(NOT_ALIGNED, f"place {i} has both")
        if image:
            node, picture = ImageNode(image, image), found[len(carried)]
            if picture is None and _tiff_in(files) is not None and not _is_address(image):
                node.reason, node.failed = FRAMES, True
            nodes.append(node)
            carried.append(picture)
        elif text:
            nodes += paragraphs(text)
    general = {key: row[key] for key in _KEPT if isinstance(row.get(key), str)}
    return RowDocument(string(row.get("url")), nodes, carried, general)


def _files_of(row: Mapping[str, Any]) -> dict[str, bytes]:
    """The members of a document; what a line of JSON says under their key has no bytes."""
    files = row.get(FILES)
    return {name: data for name, data in files.items() if isinstance(data, bytes)} if isinstance(files, dict) else {}


def _pictures(images: Sequence[str], files: Mapping[str, bytes], metadata: Any) -> list[bytes | None]:
    """The bytes of each picture that `images` names, None where the tar has none of it."""
    by_stem = {name.partition(".")[0]: data for name, data in files.items()}

    def member(image: str) -> bytes | None:
        after_key = image.partition(".")[2]  # a document's members are known by what follows the key
        return files.get(image) or by_stem.get(image) or files.get(after_key)

    found = [None if _is_address(image) else member(image) for image in images]
    tiff = _tiff_in(files)
    if tiff is not None:
        left = [i for i, image in enumerate(images) if found[i] is None and not _is_address(image)]
        for i, frame in zip(left, _frames(tiff, [images[i] for i in left], metadata), strict=True):
            found[i] = frame
    return found


def _frames(tiff: bytes, names: Sequence[str], metadata: Any) -> list[bytes | None]:
    """The frame of each name, None for one that cannot be cut out, or cannot be told from others."""
    objects = metadata if isinstance(metadata, list) else []
    try:
        split = pictures(tiff, max(len(names), len(objects)) + 1)
    except ValueError:  # no TIFF: one picture may still be one of another format
        return [tiff] if len(names) == 1 else [None] * len(names)
    for numbers, frames in ((_numbers(names, objects), len(objects)), (range(len(names)), len(names))):
        there = len(split.files)
        if numbers is not None and (there == frames or (there < frames and not split.ends)):
            return [split.files[number] if number < there else None for number in numbers]
    return [None] * len(names)


def _numbers(names: Sequence[str], objects: Sequence[Any]) -> list[int] | None:
    """The number of the frame of each name by `image_metadata`; None where this does not have them all."""
    known: dict[str, int] = {}
    for number, about in enumerate(objects):
        if isinstance(about, dict):
            known.setdefault(f"page_{about.get('page')}_image_{about.get('xref')}", number)
    return [known[name] for name in names] if known.keys() >= set(names) else None


def _tiff_in(files: Mapping[str, bytes]) -> bytes | None:
    return files.get("tiff") or files.get("tif")


def _is_address(image: str) -> bool:
    return image.lower().startswith(_WEB)
