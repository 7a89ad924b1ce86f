"""Kept documents by site, language, kind of page and month of capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.inspect.run_tables.documents import BYTES_PER_TOKEN

SHOWN = 30  # rows of a table; the others are one row


@dataclass(frozen=True)
class Yield:
    """Documents in and kept; images and estimated tokens of the kept ones. `name` may be unknown (None)."""

    name: str | None
    entered: int
    kept: int
    images: int
    bytes: int

    @property
    def tokens(self) -> float:
        """Estimated: UTF-8 bytes by `BYTES_PER_TOKEN`."""
        return self.bytes / BYTES_PER_TOKEN


@dataclass(frozen=True)
class Yields:
    """The rows that are shown, and the sum of the others, if there are any."""

    by: str
    rows: Sequence[Yield]
    others: int
    rest: Yield | None


def yields_by(documents: pa.Table, column: str, rising: bool = False) -> Yields:
    """By the values of a column of a run table: those with the most documents, these first, or in their own order."""
    kept = documents["reason"].is_null()
    numbers = {name: pc.if_else(kept, documents[name], 0).cast(pa.int64()) for name in ("images", "bytes")}
    table = pa.table({column: documents[column], "kept": kept.cast(pa.int64()), **numbers})
    sums = [(name, "sum") for name in ("kept", "images", "bytes")]
    grouped = table.group_by(column).aggregate([([], "count_all"), *sums])
    names = [column, "count_all", "kept_sum", "images_sum", "bytes_sum"]
    rows = [Yield(*values) for values in zip(*(grouped[name].to_pylist() for name in names), strict=True)]
    rows = [Yield(row.name or None, row.entered, row.kept, row.images, row.bytes) for row in rows]
    rows.sort(key=lambda row: (-row.entered, row.name or ""))
    shown, others = rows[:SHOWN], rows[SHOWN:]
    if rising:
        shown.sort(key=lambda row: row.name or "")
    return Yields(column, shown, len(others), summed(others) if others else None)


def summed(rows: Sequence[Yield]) -> Yield:
    """The sum of rows."""
    return Yield(None, *(sum(getattr(row, name) for row in rows) for name in ("entered", "kept", "images", "bytes")))


def in_all(documents: pa.Table) -> Yield:
    """The sum over a run table."""
    kept = documents.filter(documents["reason"].is_null())
    images, size = (pc.sum(kept[name]).as_py() or 0 for name in ("images", "bytes"))
    return Yield(None, documents.num_rows, kept.num_rows, images, size)
