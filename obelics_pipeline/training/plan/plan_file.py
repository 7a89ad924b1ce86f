"""A plan as training reads it: rows, spans and documents by number, from files that are mapped into memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.training.plan.form import (
    ABOUT,
    BATCH,
    DOCUMENT_COLUMNS,
    DOCUMENTS,
    FILES,
    FORMAT,
    HELD_OUT,
    ROW_COLUMNS,
    ROWS,
    SPAN_COLUMNS,
    SPANS,
    plan_id,
)
from obelics_pipeline.training.plan.rows import Rows as RowArrays
from obelics_pipeline.training.plan.spans import Spans


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens [token_start, token_stop) of a laid out document, with the images [image_start, image_stop).

    `carried`: it is led by the image before it, `image_start`. `repeat`: which pass over the document, from 0.
    """

    document: int
    token_start: int
    token_stop: int
    image_start: int
    image_stop: int
    carried: bool
    repeat: int


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A packed row; `n_tokens` with the tokens that lead spans, without padding."""

    dataset: int
    spans: tuple[Span, ...]
    n_tokens: int
    n_images: int
    first_span: int  # number of its first span in the plan


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """Where a document is, where it came from, and what was counted. `reason`: why it is not in the order."""

    dataset: int
    shard: str
    offset: int
    length: int
    doc_id: str
    url: str
    warc_filename: str
    warc_record_offset: int
    warc_record_length: int
    content_sha256: str
    n_tokens: int
    n_images: int
    ids_crc32: int
    n_target_bytes: int
    reason: str | None


class Columns:
    """An Arrow file by row number. It is mapped, so that processes share its memory; safe after a fork."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        try:
            with pa.memory_map(str(path)) as source:
                table = pa.ipc.open_file(source).read_all()
        except (OSError, pa.ArrowException) as error:
            raise UserError(f"{path}: cannot be read ({error}); make the plan again with obelics plan") from None
        if not table.schema.equals(schema):
            raise UserError(f"{path}: has other columns than this version reads; make the plan again with obelics plan")
        self.table = table
        self._chunks = [table.column(i).chunks for i in range(table.num_columns)]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def values(self, number: int) -> Iterator[Any]:
        """The values of a row."""
        if not 0 <= number < len(self):
            raise IndexError(f"row {number} of {len(self)}")
        for chunks in self._chunks:
            yield chunks[number // BATCH][number % BATCH].as_py()

    def slices(self, start: int, stop: int) -> list[list[Any]]:
        """The values of several rows, a list per column."""
        part = self.table.slice(start, stop - start)
        return [column.to_pylist() for column in part.columns]

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """A whole column of numbers."""
        out: np.ndarray[Any, Any] = self.table.column(name).to_numpy()
        return out


class Ordered:
    """Rows in a fixed order, by number from 0."""

    def __init__(self, folder: Path) -> None:
        self._rows = Columns(folder / ROWS, ROW_COLUMNS)
        self._spans = Columns(folder / SPANS, SPAN_COLUMNS)

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self._rows)

    def row(self, number: int) -> PlanRow:
        """A row with its spans. Raises IndexError."""
        dataset, first, n, n_tokens, n_images = self._rows.values(number)
        spans = tuple(Span(*values) for values in zip(*self._spans.slices(first, first + n), strict=True))
        return PlanRow(dataset, spans, n_tokens, n_images, first)

    def datasets_of_rows(self) -> np.ndarray[Any, Any]:
        """The data set of each row, by its place in the plan."""
        return self._rows.array("dataset")

    def span(self, number: int) -> Span:
        """A span by its number in the plan. Raises IndexError."""
        return Span(*self._spans.values(number))

    def arrays(self) -> RowArrays:
        """All rows as arrays, in memory."""
        document, token_start, token_stop, image_start, image_stop, repeat = (
            self._spans.array(name).astype(np.int64)
            for name in ("document", "token_start", "token_stop", "image_start", "image_stop", "repeat")
        )
        carried = self._spans.array("carried").astype(np.bool_)
        spans = Spans(document, token_start, token_stop, image_start, image_stop, carried)
        dataset, n_spans = (self._rows.array(name).astype(np.int64) for name in ("dataset", "n_spans"))
        return RowArrays(dataset, n_spans, spans, repeat)


class HeldOut(Ordered):
    """The rows that are kept for evaluation, and their documents."""

    def __init__(self, folder: Path, documents: Columns) -> None:
        super().__init__(folder)
        self.documents = documents

    def document(self, number: int) -> PlanDocument:
        """A document by its number in the plan. Raises IndexError."""
        return PlanDocument(*self.documents.values(number))


class Plan(HeldOut):
    """A plan that was opened. It can be pickled: the other process maps the same files.

    `about` is plan.json; `id` the plan's name, a hash of all that it holds.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        super().__init__(path, Columns(path / DOCUMENTS, DOCUMENT_COLUMNS))
        self.path, self.about, self.id = path, about, str(about["id"])
        self.sequence_tokens, self.images_per_row = int(about["sequence_tokens"]), int(about["images_per_row"])
        self.rows_per_step = int(about["rows_per_step"])
        self.datasets: tuple[str, ...] = tuple(dataset["name"] for dataset in about["datasets"])
        held = HeldOut(path / HELD_OUT, self.documents)
        self.held_out: HeldOut | None = held if held.n_rows else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.path, self.id)

    @property
    def n_documents(self) -> int:
        """Documents of the recipe, also those that are left out."""
        return len(self.documents)

    @property
    def steps(self) -> int:
        """Steps of the plan; the last may have fewer rows."""
        return -(-self.n_rows // self.rows_per_step)


def open_plan(path: Path) -> Plan:
    """A plan whose every file has the bytes that were written. Raises UserError, in one line."""
    about = _about(path)
    for name in FILES:
        try:
            same = file_sha256(path / name) == about["sha256"][name]
        except OSError as error:
            raise UserError(f"{path / name}: cannot be read ({error.strerror}); make the plan again") from None
        if not same:
            raise UserError(f"{path / name}: other bytes than {ABOUT} names; it was damaged: make the plan again")
    return Plan(path, about)


def _reopened(path: Path, name: str) -> Plan:
    """A plan in another process: checked already. Raises UserError where another one is there now."""
    about = _about(path)
    if about["id"] != name:
        raise UserError(f"{path}: another plan was written there meanwhile ({about['id'][:12]}, opened {name[:12]})")
    return Plan(path, about)


def _about(path: Path) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads((path / ABOUT).read_text(encoding="utf-8"))
    except OSError:
        raise UserError(f"{path}: no plan is there ({ABOUT} is missing); make one with obelics plan") from None
    except ValueError as error:
        raise UserError(f"{path / ABOUT}: not JSON ({error}); make the plan again with obelics plan") from None
    found = value.get("format") if isinstance(value, dict) else None
    if found != FORMAT:
        raise UserError(f"{path / ABOUT}: format {found!r}, this version reads {FORMAT}; make the plan again")
    if value.get("id") != plan_id(value):
        raise UserError(f"{path / ABOUT}: was changed after the plan was made; make the plan again with obelics plan")
    return value
