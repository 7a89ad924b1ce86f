"""What a layout makes of a row: a document that nothing has measured, and the images that came with it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from obelics_pipeline.core.document import ImageNode, Node, TextNode, to_json
from obelics_pipeline.stages.rows.row_error import MAX_LENGTH, NO_TEXT, NO_URL, NOT_UTF8, TOO_LONG, WRONG_TYPE, RowError
from obelics_pipeline.stages.rows.values import LARGEST, kind

MOST_NODES = 100_000  # of a row; a document has at most 30 images by the paper, and a paragraph a line
PROVENANCE = ("url", "warc_filename", "warc_record_offset", "warc_record_length")
_URL = re.compile(r"https?://[^\x00-\x20\x7f]{1,8192}", re.IGNORECASE)

# Keys of general_metadata that stages read, with what they must be. Others pass as they are.
_TEXTS = ("warc_date", "charset", "title", "page_type", "licence", "licence_url", "licence_source", "published")
_COUNTS = ("link_count", "outbound_link_count", "affiliate_link_count", "part", "parts")
_SHARES = ("main_content_confidence", "page_type_probability")
_OBJECTS = ("consent", "image_licences", "opt_out_checked")


@dataclass(frozen=True, slots=True)
class WarcPlace:
    """The record that a published document says it was made of: file name, and offset and length in bytes."""

    filename: str
    offset: int
    length: int


@dataclass(slots=True)
class RowDocument:
    """A document of a row. `pictures` has the bytes of each image node, in their order, None where the row has none.

    `doc_id` and `record` are those that the row gives, None where its layout has none.
    """

    url: str
    nodes: list[Node]
    pictures: list[bytes | None] = field(default_factory=list)
    general: dict[str, Any] = field(default_factory=dict)
    doc_id: str | None = None
    record: WarcPlace | None = None


def place_of(general: Mapping[str, Any]) -> WarcPlace | None:
    """The record that `general_metadata` in the published form names, None where it names none."""
    name, offset, length = (general.get(key) for key in PROVENANCE[1:])
    if not (isinstance(name, str) and name and type(offset) is int and type(length) is int):
        return None
    return WarcPlace(name, offset, length) if 0 <= offset < 2**63 and 0 <= length < 2**63 else None


def checked(found: RowDocument) -> RowDocument:
    """The same document, fit to be stored and measured. Raises RowError where it is not."""
    if not _URL.fullmatch(found.url):
        raise RowError(NO_URL, found.url[:100])
    if len(found.nodes) > MOST_NODES:
        raise RowError(TOO_LONG, f"{len(found.nodes)} texts and images; {MOST_NODES} are the most")
    if not any(isinstance(node, TextNode) and node.text for node in found.nodes):
        raise RowError(NO_TEXT, "not one text")
    _check_general(found.general)
    strings = [found.url, *_strings(found.nodes)]
    try:
        about = json.dumps(found.general, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError, TypeError) as error:
        raise RowError(WRONG_TYPE, f"general_metadata: {str(error)[:100]}") from None
    if sum(map(len, strings)) + len(about) > MAX_LENGTH:
        raise RowError(TOO_LONG, f"more than {MAX_LENGTH} characters")
    try:
        "".join([*strings, about, to_json(found.record and found.record.filename)]).encode()
    except UnicodeEncodeError:
        raise RowError(NOT_UTF8, "half a character (a lone surrogate)") from None
    return found


def _strings(nodes: list[Node]) -> list[str]:
    found: list[str | None] = []
    for node in nodes:
        if isinstance(node, ImageNode):
            found += [node.src, node.unformatted_src, node.alt_text, node.formatted_filename]
        else:
            found.append(node.text)
    return [text for text in found if text]


def _check_general(general: Mapping[str, Any]) -> None:
    wrong = [name for name in _TEXTS if name in general and not isinstance(general[name], str)]
    wrong += [name for name in _COUNTS if name in general and not _is_count(general[name])]
    wrong += [name for name in _SHARES if name in general and type(general[name]) not in (int, float)]
    wrong += [name for name in _OBJECTS if name in general and not isinstance(general[name], dict)]
    licences = general.get("licences", [])
    if not isinstance(licences, list) or not all(isinstance(name, str) for name in licences):
        wrong.append("licences")
    if not wrong and "published" in general and not _is_day(general["published"]):
        wrong.append("published")
    if wrong:
        raise RowError(WRONG_TYPE, f"general_metadata.{wrong[0]} is {kind(general[wrong[0]])}, and not what it must be")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
