"""A document from a row of a user's data. Every value in a row is untrusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from obelics_pipeline.core.document import IMAGE_METADATA_KEYS, Document, ImageNode, Node, TextNode
from obelics_pipeline.stages.rows.row_error import MAX_LENGTH, NO_TEXT, TOO_LONG, WRONG_TYPE, RowError
from obelics_pipeline.stages.rows.values import integer, kind, listed, mapped, places, refuse_unequal, string, strings

INTERLEAVED = "texts"  # with it a row is of the published form, and `text` is not looked at
PLAIN = "text"
KEYS = (INTERLEAVED, PLAIN, "images", "metadata", "general_metadata", "doc_id", "id", "url")  # all that is read

_PROVENANCE = ("url", "warc_filename", "warc_record_offset", "warc_record_length")
_FACTS = [key for key in IMAGE_METADATA_KEYS if key not in ("src", "unformatted_src")]


def document_of_row(row: Mapping[str, Any]) -> Document:
    """The document of a row of the published form (texts, images, metadata, general_metadata), or of one with `text`.

    A text between two images is one node, as it is published. Raises RowError.
    """
    nodes: list[Node] = list(_interleaved(row)) if INTERLEAVED in row else [TextNode(_plain(row.get(PLAIN)))]
    if sum(len(node.text) for node in nodes if isinstance(node, TextNode)) > MAX_LENGTH:
        raise RowError(TOO_LONG, f"more than {MAX_LENGTH} characters")
    general = mapped("general_metadata", row.get("general_metadata"))
    provenance = {key: general.get(key, row.get(key)) for key in _PROVENANCE}
    return Document(
        doc_id=string(row.get("doc_id", row.get("id"))),
        url=string(provenance["url"]),
        warc_filename=string(provenance["warc_filename"]),
        warc_record_offset=integer(provenance["warc_record_offset"]),
        warc_record_length=integer(provenance["warc_record_length"]),
        nodes=nodes,
        general={key: value for key, value in general.items() if key not in _PROVENANCE},
    )


def image_urls(documents: Iterable[Document | RowError], at_most: int) -> list[str]:
    """The distinct URLs of the first `at_most` images of each document, in their order."""
    good = (document for document in documents if isinstance(document, Document))
    return list(dict.fromkeys(image.src for document in good for image in document.images()[:at_most]))


def _plain(text: Any) -> str:
    if text is None:
        raise RowError(NO_TEXT, f"{PLAIN} is missing or null")
    if not isinstance(text, str):
        raise RowError(WRONG_TYPE, f"{PLAIN} is {kind(text)}, not a string")
    return text


def _interleaved(row: Mapping[str, Any]) -> Iterator[Node]:
    texts = strings(INTERLEAVED, row[INTERLEAVED])
    if texts is None:
        raise RowError(NO_TEXT, f"{INTERLEAVED} is null")
    images = strings("images", row.get("images"))
    metadata = listed("metadata", row.get("metadata"))
    refuse_unequal(texts=texts, images=images, metadata=metadata)
    nothing: list[Any] = [None] * len(texts)
    for i, text, image in places(texts, images or nothing):
        yield TextNode(text or "") if image is None else _image(i, image, (metadata or nothing)[i])


def _image(place: int, src: str, about: Any) -> ImageNode:
    if not isinstance(about, dict | None):
        raise RowError(WRONG_TYPE, f"metadata at place {place} is {kind(about)}, not an object")
    known = about or {}
    facts: dict[str, Any] = {key: known[key] for key in _FACTS if type(known.get(key)) in (str, int)}
    return ImageNode(src, string(known.get("unformatted_src")) or src, **facts)
