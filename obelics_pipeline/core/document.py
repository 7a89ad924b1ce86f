"""The interleaved document: nodes in page order, and the published OBELICS columns derived from them.

A document is born in `extract` as a list of nodes. Later steps never delete a node: they give it a `reason`, so
that what was dropped can still be shown. `interleave` derives the published columns from the nodes that are kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

PARAGRAPH_SEPARATOR = "\n\n"  # between paragraphs of one text: the published OBELICS convention

TEXT_ROLES = (
    "paragraph", "headline", "standfirst", "heading", "list", "table", "code", "quote", "caption", "formula", "comment",
    "end_of_document",
)  # fmt: skip
IMAGE_ROLES = ("lead", "inline", "gallery", "comment")
IMAGE_MEASURES = (
    "one_colour",
    "qr_codes",
    "qr_share",
    "sharpness",
    "text_share",
)  # of its pixels: stages/fetch/quality
PICTURE = "picture_"  # begins the name of what a model measured of an image: stages/score
DOCUMENT_DROPPED = "document_dropped"  # reason of an image nothing is wrong with, where the document is not kept
NOT_FINITE = "not_finite"  # reason of a document, a failure: a filter or a model gave NaN or infinity as its score
MEASURING_ERROR = "measuring_error"  # starts the reason of a document, a failure: a filter raised an error at it


@dataclass(slots=True)
class TextNode:
    """One paragraph of a page. `reason` names the rule that dropped it; a kept paragraph has None.

    Where it was dropped as a repetition, `duplicate_of` is the doc_id of the first document that has it. `post` is the
    number of the post that it is of, from 0 in the order of the page, where the page is a thread.
    """

    text: str
    role: str = "paragraph"
    reason: str | None = None
    scores: dict[str, float] = field(default_factory=dict)  # paragraph-level scores measured so far
    duplicate_of: str | None = None
    post: int | None = None


@dataclass(slots=True)
class ImageNode:
    """One image reference of a page and, once fetched, what it turned out to be.

    Widths and heights are in pixels; `rendered_*` are as the page declares them (a "50%" stays a string until the
    original size is known; then it is pixels, as in the published data set), `original_*` are those of the fetched
    file. `sha256` names the bytes; `pack` and `offset` say where the run has them. `role` is one of `IMAGE_ROLES` and
    `position` the number of characters, white space not counted, of what extraction kept of the page before it; both
    are None by rules that do not tell, such as the reference's.
    """

    src: str  # absolute URL
    unformatted_src: str  # as written in the page
    alt_text: str | None = None
    formatted_filename: str | None = None
    rendered_width: int | str | None = None
    rendered_height: int | str | None = None
    role: str | None = None
    position: int | None = None
    reason: str | None = None
    failed: bool = False  # True where `reason` is a failure (of the fetch), not a rule
    original_width: int | None = None
    original_height: int | None = None
    format: str | None = None
    sha256: str | None = None
    n_bytes: int | None = None
    duplicate_of: str | None = None  # as at a text
    post: int | None = None  # as at a text
    phash: str | None = None  # perceptual hash, 16 hexadecimal digits
    similarity: float | None = None  # to the text next to it, a cosine from -1 to 1, where a model measured it
    unsafe: float | None = None  # how likely it is unsafe, 0 to 1, where a classifier measured it
    scores: dict[str, float] = field(default_factory=dict)  # see `is_image_measure`; those that were measured
    pack: str | None = None  # the file of the run's images that has it among others
    offset: int | None = None  # of its first byte there


Node = TextNode | ImageNode


def is_image_measure(name: str) -> bool:
    """Whether a score of a node is one of images: of `IMAGE_MEASURES`, or what a model measured (`PICTURE`)."""
    return name in IMAGE_MEASURES or name.startswith(PICTURE)


CARRIED = "sha256:"  # begins what stands for the address of an image whose bytes came with a row


def asked_as(image: ImageNode) -> str:
    """What an image is asked for by, before its result is known: its URL, or the sha256 of the bytes that came with it.

    Only the latter have a `sha256` then. Rows may give one URL to different images.
    """
    return image.src if image.sha256 is None else CARRIED + image.sha256


@dataclass(slots=True)
class Document:
    """One interleaved document: a page, or a part of a long page.

    `scores` holds one float per document-level score, None if it was not measured. `reason` names the rule that dropped
    the document; a kept document has None.
    """

    doc_id: str
    url: str
    warc_filename: str
    warc_record_offset: int  # bytes, of the compressed record
    warc_record_length: int  # bytes, of the compressed record
    nodes: list[Node]
    general: dict[str, Any] = field(default_factory=dict)  # further JSON values for general_metadata
    language: str | None = None  # ISO 639 code as the language model gives it
    scores: dict[str, float | None] = field(default_factory=dict)
    reason: str | None = None

    def text(self) -> str:
        """The kept paragraphs joined by a blank line: what document-level filters measure."""
        return PARAGRAPH_SEPARATOR.join(n.text for n in self.nodes if isinstance(n, TextNode) and n.reason is None)

    @property
    def page_type(self) -> str | None:
        """The kind of its page, one of `KINDS` in models/page_type.py; None where extraction did not tell."""
        kind = self.general.get("page_type")
        return kind if isinstance(kind, str) else None

    def images(self) -> list[ImageNode]:
        """The kept images, in page order."""
        return [n for n in self.nodes if isinstance(n, ImageNode) and n.reason is None]


def make_doc_id(warc_filename: str, offset: int, ordinal: int = 0, part: int = 0) -> str:
    """Stable 32-digit hexadecimal id of a document.

    `ordinal` counts records that share one compressed offset (a WARC compressed as a single member), `part` the
    pieces of a split page; both are 0 in the ordinary case.
    """
    name = f"{warc_filename}\n{offset}\n{ordinal}\n{part}"
    return hashlib.sha256(name.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Interleaved:
    """The published columns: three lists of equal length, exactly one of text and image non-null at each place."""

    texts: list[str | None]
    images: list[str | None]
    metadata: list[dict[str, Any] | None]


def interleave(nodes: Iterable[Node], document_url: str) -> Interleaved:
    """Derive the published columns from the kept nodes; paragraphs without an image between them form one text."""
    out = Interleaved([], [], [])
    pending: list[str] = []

    def flush() -> None:
        if pending:
            out.texts.append(PARAGRAPH_SEPARATOR.join(pending))
            out.images.append(None)
            out.metadata.append(None)
            pending.clear()

    for node in nodes:
        if node.reason is not None:
            continue
        if isinstance(node, TextNode):
            if node.text:
                pending.append(node.text)
            continue
        flush()
        out.texts.append(None)
        out.images.append(node.src)
        out.metadata.append(image_metadata(node, document_url))
    flush()
    return out


IMAGE_METADATA_KEYS = (
    "unformatted_src", "src", "alt_text", "formatted_filename", "rendered_width", "rendered_height",
    "original_width", "original_height", "format", "role", "position", "post", "similarity", "unsafe",
)  # fmt: skip


def image_metadata(image: ImageNode, document_url: str) -> dict[str, Any]:
    """The metadata object of one image: the keys of the published data set, then ours; absent values have no key."""
    values = {key: value for key in IMAGE_METADATA_KEYS if (value := getattr(image, key)) is not None}
    by_models = sorted(name for name in image.scores if name.startswith(PICTURE))
    measured = {name: image.scores[name] for name in (*IMAGE_MEASURES, *by_models) if name in image.scores}
    return {"document_url": document_url, **values, **measured}


def general_metadata(document: Document) -> dict[str, Any]:
    """Provenance of a document: the four keys of the published data set first, then ours."""
    return {
        "url": document.url,
        "warc_filename": document.warc_filename,
        "warc_record_offset": document.warc_record_offset,
        "warc_record_length": document.warc_record_length,
        **document.general,
    }


def to_json(value: Any) -> str:
    """The JSON of every output: compact, non-ASCII kept, keys in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def refuse_not_finite(document: Document, names: Iterable[str]) -> bool:
    """Give a document that is kept the reason NOT_FINITE where one of these scores is NaN or infinite; whether one is.

    Such a number is in no bound, or in all of them: it tells that a model is broken, and nothing of the document. In
    files it is null.
    """
    wrong = any((score := document.scores.get(name)) is not None and not isfinite(score) for name in names)
    if wrong:
        document.reason = document.reason or NOT_FINITE
    return wrong


def has_failed(document: Document) -> bool:
    """Whether a document left because it could not be measured, and not by a rule: so it is counted in ledgers."""
    reason = document.reason
    return reason is not None and (reason == NOT_FINITE or reason.startswith(MEASURING_ERROR))


def kept_texts(nodes: Sequence[Node]) -> list[TextNode]:
    """The text nodes that are still kept."""
    return [n for n in nodes if isinstance(n, TextNode) and n.reason is None]
