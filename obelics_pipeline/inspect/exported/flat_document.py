"""A document as one record without nulls, and its pictures as one run of bytes: equal types in every document.

Loaders take the types of columns from the first documents that they meet. `datasets` reads five of a tar
(packaged_modules/webdataset, 5.2), and a value that is null in each of them must stay null. So a text is "" where an
image stands, and a list of pictures is one value of bytes with the length of each picture beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.shards.source import StoredDocument


class FlatDocument(NamedTuple):
    """`record` holds texts and numbers, no null; `pictures` are the files of the document, one after another."""

    record: dict[str, Any]
    pictures: bytes


def flat_document(document: StoredDocument) -> FlatDocument:
    """The flat form of a document. Position i of its lists is position i of the page.

    `texts` is "" where an image stands, `image_urls` is "" where a text stands, and `picture_bytes` is the length of
    the picture in bytes: 0 where a text stands, or the image was not fetched. Raises KeyError for a record that lacks
    a key, or names a file that it does not have.
    """
    value, row = document.value, document.row
    files = [None if name is None else document.images[name] for name in value["files"]]
    record = {
        "doc_id": value["doc_id"],
        "url": row["url"],
        "texts": [text or "" for text in value["texts"]],
        "image_urls": [url or "" for url in value["images"]],
        "picture_bytes": [len(data or b"") for data in files],
        "metadata": value["metadata"],
        "general_metadata": value["general_metadata"],
        "language": value["language"] or "",
        "page_type": row.get("page_type") or "",  # an index of an earlier version lacks it
        "scores": to_json(value["scores"]),
    }
    return FlatDocument(record, b"".join(data for data in files if data is not None))


def pictures_of(record: Mapping[str, Any], pictures: bytes) -> list[bytes | None]:
    """The pictures of a flat document by position; None where a text stands, or the image was not fetched."""
    found: list[bytes | None] = []
    at = 0
    for length in record["picture_bytes"]:
        found.append(pictures[at : at + length] if length else None)
        at += length
    return found
