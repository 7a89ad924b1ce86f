"""What was taken back: how a stage asks whether something is, and what then is left of it.

The answers come from tombstones (`policy/tombstones/`), keyed hashes without content. A stage sees only this protocol,
and is handed None where nothing was ever taken back: then it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from obelics_pipeline.core.document import Document, ImageNode

FORGOTTEN = "forgotten"  # the reason, in every ledger


class Forgotten(Protocol):
    """Says what was taken back. Safe to send to workers."""

    def url(self, url: str) -> bool:
        """Whether an address, of a page or of an image, or its host, was taken back."""

    def document(self, doc_id: str) -> bool:
        """Whether a document was, by its id."""

    def sha256(self, sha256: str) -> bool:
        """Whether a sha256 was, of an image or of a text, in lower case."""

    def content(self, data: bytes) -> bool:
        """Whether these bytes, of an image, were, by their sha256."""

    def text(self, text: str) -> bool:
        """Whether a text was, by its sha256, or is nearly the same as one that was where texts are compared."""

    def image_set(self, images: Sequence[ImageNode]) -> bool:
        """Whether a document that had the same images was, where sets of images are compared."""

    def name(self, doc_id: str) -> str:
        """What a document is called once it is taken back: as long as its id, and only the key tells of which."""


def blank(document: Document, name: str) -> None:
    """Leave of a document its place in the count, under another name."""
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
    image.reason, image.failed = FORGOTTEN, False


def forget_images(document: Document, forgotten: Forgotten) -> int:
    """Blank the images of a document whose address was taken back; how many."""
    found = [n for n in document.nodes if isinstance(n, ImageNode) and n.src and forgotten.url(n.src)]
    for image in found:
        blank_image(image)
    return len(found)
