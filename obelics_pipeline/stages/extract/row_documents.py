"""The documents of a row of a published corpus: what `page_documents` is for a page."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, ImageNode, Node, make_doc_id
from obelics_pipeline.policy.personal_data.budget import TooManyLooks
from obelics_pipeline.policy.personal_data.clean import UNSEARCHED
from obelics_pipeline.stages.extract.refused import Refused
from obelics_pipeline.stages.extract.safety import Safety
from obelics_pipeline.stages.extract.split import split_nodes
from obelics_pipeline.stages.read.robots import DISALLOWED, RobotsCaptures
from obelics_pipeline.stages.rows.row_document import RowDocument, WarcPlace

# Where the images of a unit's documents are that came with their rows; `place` counts those of a row
CARRIED = pa.schema([("sha256", pa.string()), ("row", pa.int64()), ("place", pa.int32())])


def row_documents(
    found: RowDocument, file: str, number: int, config: RunConfig, safety: Safety, robots: RobotsCaptures | None = None
) -> list[Document] | Refused:
    """The documents of a row, the parts of a long one, or why it gives none.

    `file` and `number` say which row it is: its id follows from them where the row has none. An image that came with
    the row has the sha256 of its bytes.
    """
    blocked = safety.page_reason(found.url)
    if blocked is not None:
        return Refused(blocked)
    if config.consent.crawl.robots == "drop" and robots is not None and robots.answer_for(found.url)[0] == DISALLOWED:
        return Refused("robots_txt")
    if len(found.nodes) > config.extract.max_nodes:
        return Refused("too_many_nodes")
    for node, sha256 in zip(_images(found.nodes), hashes_of(found), strict=False):
        node.sha256 = sha256
    safety.judge_images(found.nodes)
    parts = split_nodes(found.nodes, config.extract)
    documents = [_document(found, file, number, nodes, i, len(parts)) for i, nodes in enumerate(parts)]
    try:
        safety.clean(documents, None)
    except TooManyLooks:  # what was not searched is not stored
        return Refused(UNSEARCHED)
    return documents


def hashes_of(found: RowDocument) -> list[str | None]:
    """The sha256 of each image of a row, None where the row does not have its bytes."""
    return [None if data is None else hashlib.sha256(data).hexdigest() for data in found.pictures]


def carried_rows(found: RowDocument, number: int) -> list[dict[str, Any]]:
    """The rows of `CARRIED` about a row; images with the same bytes are one."""
    first: dict[str, int] = {}
    for place, node in enumerate(_images(found.nodes)):
        if place < len(found.pictures) and node.sha256 is not None:
            first.setdefault(node.sha256, place)
    return [{"sha256": sha256, "row": number, "place": place} for sha256, place in first.items()]


def _images(nodes: Sequence[Node]) -> list[ImageNode]:
    return [node for node in nodes if isinstance(node, ImageNode)]


def _document(found: RowDocument, file: str, number: int, nodes: list[Node], part: int, parts: int) -> Document:
    whole = found.doc_id or make_doc_id(file, number)
    record = found.record or WarcPlace(file, number, 0)
    return Document(
        doc_id=whole if parts == 1 else make_doc_id(whole, 0, part=part),
        url=found.url,
        warc_filename=record.filename,
        warc_record_offset=record.offset,
        warc_record_length=record.length,
        nodes=nodes,
        general=found.general | ({"part": part, "parts": parts} if parts > 1 else {}),
    )
