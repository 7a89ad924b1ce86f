"""A document from a row of a user's data. Every value in a row is untrusted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from obelics_pipeline.core.document import IMAGE_METADATA_KEYS, Document, ImageNode, Node, TextNode
from obelics_pipeline.jobs.score_rows.row_error import (
    BROKEN_METADATA,
    LENGTHS_DIFFER,
    MAX_LENGTH,
    NO_TEXT,
    NOT_ALIGNED,
    TOO_LONG,
    WRONG_TYPE,
    RowError,
)

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
    general = _parsed("general_metadata", row.get("general_metadata"), dict, {})
    provenance = {key: general.get(key, row.get(key)) for key in _PROVENANCE}
    return Document(
        doc_id=_string(row.get("doc_id", row.get("id"))),
        url=_string(provenance["url"]),
        warc_filename=_string(provenance["warc_filename"]),
        warc_record_offset=_integer(provenance["warc_record_offset"]),
        warc_record_length=_integer(provenance["warc_record_length"]),
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
        raise RowError(WRONG_TYPE, f"{PLAIN} is {_kind(text)}, not a string")
    return text


def _interleaved(row: Mapping[str, Any]) -> Iterator[Node]:
    texts = _strings(INTERLEAVED, row[INTERLEAVED])
    if texts is None:
        raise RowError(NO_TEXT, f"{INTERLEAVED} is null")
    images = _strings("images", row.get("images"))
    metadata = _parsed("metadata", row.get("metadata"), list, None)
    lengths = {"texts": texts, "images": images, "metadata": metadata}
    if len({len(values) for values in lengths.values() if values is not None}) > 1:
        said = ", ".join(f"{name} {len(values)}" for name, values in lengths.items() if values is not None)
        raise RowError(LENGTHS_DIFFER, said)
    nothing: list[Any] = [None] * len(texts)
    for i, (text, image, about) in enumerate(zip(texts, images or nothing, metadata or nothing, strict=True)):
        if (text is None) == (image is None):
            raise RowError(NOT_ALIGNED, f"place {i} has {'neither text nor image' if text is None else 'both'}")
        yield _image(i, image, about) if text is None else TextNode(text)


def _image(place: int, src: str, about: Any) -> ImageNode:
    if not isinstance(about, dict | None):
        raise RowError(WRONG_TYPE, f"metadata at place {place} is {_kind(about)}, not an object")
    known = about or {}
    facts: dict[str, Any] = {key: known[key] for key in _FACTS if type(known.get(key)) in (str, int)}
    return ImageNode(src, _string(known.get("unformatted_src")) or src, **facts)


def _strings(name: str, values: Any) -> Sequence[str | None] | None:
    if values is None:
        return None
    if not isinstance(values, list):
        raise RowError(WRONG_TYPE, f"{name} is {_kind(values)}, not a list")
    for i, value in enumerate(values):
        if not isinstance(value, str | None):
            raise RowError(WRONG_TYPE, f"{name} at place {i} is {_kind(value)}, not a string")
    return values


def _parsed(name: str, value: Any, kind: type, absent: Any) -> Any:
    """A list or an object: the JSON of one, as it is published, or itself."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise RowError(BROKEN_METADATA, f"{name}: {str(error)[:100]}") from None
    if value is None:
        return absent
    if not isinstance(value, kind):
        raise RowError(WRONG_TYPE, f"{name} is {_kind(value)}, not {'a list' if kind is list else 'an object'}")
    return value


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _integer(value: Any) -> int:
    return value if type(value) is int else 0


def _kind(value: Any) -> str:
    names = {str: "a string", list: "a list", dict: "an object", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else type(value).__name__)
