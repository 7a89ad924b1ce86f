"""Removed documents, pages and images: how a stage asks whether something was removed, and what it leaves.

The answers come from tombstones (`policy/tombstones/`), keyed hashes without content. A stage sees only this protocol,
or None if nothing was ever removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from obelics_pipeline.core.document import CARRIED, Document, ImageNode

FORGOTTEN = "forgotten"  # the reason, in every ledger


class Forgotten(Protocol):
    """Answers whether something was removed. Can be pickled to workers."""

    def url(self, url: str) -> bool:
        """Whether the URL of a page or an image, or its host, was removed."""

    def document(self, doc_id: str) -> bool:
        """Whether the document with this id was removed."""

    def sha256(self, sha256: str) -> bool:
        """Whether an image or text with this sha256 (lower-case hex) was removed."""

    def content(self, data: bytes) -> bool:
        """Whether the image with these bytes was removed."""

    def text(self, text: str) -> bool:
        """Whether this text, or a near-duplicate of it, was removed. Near-duplicates only if the run compares texts."""

    def image_set(self, images: Sequence[ImageNode]) -> bool:
        """Whether a document with the same images was removed. Always False if the run does not compare image sets."""

    def name(self, doc_id: str) -> str:
        """The id that replaces a removed document's: as long as its own, made with the secret key."""


def blank(document: Document, name: str) -> None:
    """Empty a document in place, so that it still counts, under another id."""
    document.doc_id, document.reason = name, FORGOTTEN
    document.url = document.warc_filename = ""
    document.warc_record_offset = document.warc_record_length = 0
    document.nodes, document.general, document.language = [], {}, None
    document.scores = dict.fromkeys(document.scores)


def is_blank(document: Document) -> bool:
    """Whether nothing is left of a document."""
    return document.reason == FORGOTTEN and not document.url


def blank_image(image: ImageNode) -> None:
    """Leave of an image its place in the count."""
    image.src = image.unformatted_src = ""
    image.alt_text = image.formatted_filename = image.rendered_width = image.rendered_height = None
    image.position = image.original_width = image.original_height = image.format = None
    image.sha256 = image.n_bytes = image.duplicate_of = image.phash = image.similarity = None
    image.pack = image.offset = None
    image.scores = {}
    image.reason, image.failed = FORGOTTEN, False


def is_gone(image: ImageNode, url: Callable[[str], bool]) -> bool:
    """Whether an image was removed by its address, or by its bytes where they came with a row. `url` tells of both."""
    by_bytes = image.sha256 is not None and url(CARRIED + image.sha256)
    return bool(image.src) and (by_bytes or url(image.src))


def forget_images(document: Document, forgotten: Forgotten) -> int:
    """Blank the images of a document whose address was removed; how many."""
    found = [n for n in document.nodes if isinstance(n, ImageNode) and is_gone(n, forgotten.url)]
    for image in found:
        blank_image(image)
    return len(found)
