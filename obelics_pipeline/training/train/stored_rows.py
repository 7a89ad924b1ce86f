"""Rows of a plan as they are read from shards: by offset, in any order, the same in every process."""

from __future__ import annotations

import io
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.shards.check_record import NotJson, parse_json
from obelics_pipeline.core.shards.tar import Placed, TarDamaged, read_members
from obelics_pipeline.core.storage import location
from obelics_pipeline.models.packed_flamingo.document_tokens import (
    DocumentTokens,
    Vocabulary,
    document_tokens,
    span_tokens,
)
from obelics_pipeline.models.pictures.pixels import Fit, Picture, picture
from obelics_pipeline.training.plan.plan_file import PlanDocument, PlanRow
from obelics_pipeline.training.plan.records import slice_of
from obelics_pipeline.training.plan.tokenizer import ids_crc32

KEPT = 64  # documents whose tokens and files are kept: the spans of a long one often lie in rows that are near


class Rows(Protocol):
    """Where rows come from: a `Plan`, or its held-out part."""

    def row(self, number: int) -> PlanRow:
        """A row by its number."""

    def document(self, number: int) -> PlanDocument:
        """A document by its number."""


@dataclass(frozen=True, eq=False)
class ReadSpan:
    """A span of a document in a row: `ids`, `targets` and `image_of` have one entry per token.

    `image_of` counts the row's images from `first_image`; -1 where a token has none, or it could not be decoded.
    """

    document: int
    repeat: int
    ids: npt.NDArray[np.int64]
    targets: npt.NDArray[np.bool_]
    image_of: npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ReadRow:
    """A row with its tokens and pictures. `number` is -1 for the empty row that fills a batch up."""

    number: int
    dataset: int
    first_span: int
    spans: tuple[ReadSpan, ...] = ()
    pictures: tuple[Picture | None, ...] = ()

    @property
    def failed_images(self) -> int:
        """Images that the plan counted and whose files could not be decoded."""
        return sum(picture is None for picture in self.pictures)


EMPTY = ReadRow(-1, 0, 0)


@dataclass(eq=False)
class RowReader:
    """Reads rows of a plan. Opens its files by itself in each process: a handle from before a fork would be shared.

    `side` in pixels, and `fit`, are of the vision tower.
    """

    rows: Rows
    vocabulary: Vocabulary
    side: int
    fit: Fit = "shortest"
    _tokens: OrderedDict[int, tuple[DocumentTokens, tuple[bytes, ...]]] = field(default_factory=OrderedDict)

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_tokens": OrderedDict()}

    def read(self, number: int) -> ReadRow:
        """A row by its number. Raises Stopped where a shard is gone or is another than when the plan was made."""
        row = self.rows.row(number)
        spans: list[ReadSpan] = []
        pictures: list[Picture | None] = []
        for span in row.spans:
            tokens, files = self._document(span.document)
            ids, targets, image_of = span_tokens(tokens, span, self.vocabulary)
            seen = [picture(data, self.side, self.fit) for data in files[span.image_start : span.image_stop]]
            first = len(pictures)
            pictures += seen
            there = np.array([first + i if p is not None else -1 for i, p in enumerate(seen)] + [-1], np.int32)
            spans.append(ReadSpan(span.document, span.repeat, ids, targets, there[image_of]))
        return ReadRow(number, row.dataset, row.first_span, tuple(spans), tuple(pictures))

    def _document(self, number: int) -> tuple[DocumentTokens, tuple[bytes, ...]]:
        found = self._tokens.get(number)
        if found is None:
            found = self._tokens[number] = read_document(self.rows.document(number), self.vocabulary)
            while len(self._tokens) > KEPT:
                self._tokens.popitem(last=False)
        self._tokens.move_to_end(number)
        return found


def read_document(document: PlanDocument, vocabulary: Vocabulary) -> tuple[DocumentTokens, tuple[bytes, ...]]:
    """Tokens of a document, and the bytes of its image files in page order.

    Raises Stopped where its shard cannot be read, is another than when the plan was made, or is tokenized otherwise:
    to train on something else than the plan says would be worse than not to train.
    """
    where = f"{document.shard}, document {document.doc_id}"
    record, files = read_members_of(document)
    tokens = document_tokens(record, vocabulary)
    if ids_crc32(tokens) != document.ids_crc32 or len(files) != tokens.n_images:
        raise Stopped(f"{where}: has other tokens than planned; the shard or tokenizer changed: make the plan again")
    return tokens, files


def read_members_of(document: PlanDocument) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    """The JSON of a document, and the bytes of its image files in page order.

    Raises Stopped where its shard cannot be read, or another document stands there.
    """
    try:
        data = slice_of(location(document.shard), document.offset, document.length)
        if len(data) != document.length:
            raise TarDamaged(f"{len(data)} bytes at {document.offset}, where {document.length} should be")
        members = read_members(io.BytesIO(data), Placed(0, len(data)), len(data))
        named = [(member.name, member.stream.read()) for member in members]
        if named[0][0] != f"{document.doc_id}.json":
            raise TarDamaged(f"{named[0][0]} is at byte {document.offset}")
        return parse_json(named[0][1]), tuple(file for _, file in named[1:])
    except (OSError, TarDamaged, NotJson, ValueError) as error:
        where = f"{document.shard}, document {document.doc_id}"
        raise Stopped(f"{where}: cannot be read ({error}); see obelics validate, and make the plan again") from None
