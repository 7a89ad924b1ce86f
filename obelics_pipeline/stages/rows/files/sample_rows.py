"""Documents of a Parquet file in which rows that stand together are one: those with the same value of a column."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from obelics_pipeline.core.storage import Location
from obelics_pipeline.stages.rows.files.parquet_rows import parquet_rows
from obelics_pipeline.stages.rows.files.raw_row import MAX_BYTES, MayRead, RawRow, always
from obelics_pipeline.stages.rows.layouts.curator import OF_DOCUMENT, POSITION, ROWS
from obelics_pipeline.stages.rows.row_document import MOST_NODES
from obelics_pipeline.stages.rows.row_error import DAMAGED_ROWS, TOO_LARGE, TOO_LONG, WRONG_TYPE, RowError


def sample_rows(
    where: Location, start: int, end: int, columns: Sequence[str], sample: str, may_read: MayRead
) -> Iterator[RawRow]:
    """The documents that begin in rows [start, end), each with the number of its first row, and its rows under `ROWS`.

    The last one is read to its end, beyond `end`. A row that is lost costs the document it stands in, and the one
    behind it, unless that begins with the row of a document. Raises OSError where the file cannot be read at all.
    """
    before = _sample_of(where, start - 1, sample)
    group: _Group | None = None
    lost = RowError(DAMAGED_ROWS, "") if start > 0 and before is None else None
    for raw in parquet_rows(where, start, sys.maxsize, columns, may_read):
        key, wrong = _key(raw, sample)
        if group is None and key is not None and key == before:
            continue
        if group is not None and wrong is not None:
            group.wrong, lost = wrong, wrong
            continue
        if group is None or key != group.key:
            if group is not None:
                yield RawRow(group.number, group.values())
                group = None
            if raw.number >= end:
                return
            if wrong is not None:
                yield RawRow(raw.number, wrong)
                lost = wrong
                continue
            group, before = _Group(raw.number, str(key)), None
        assert not isinstance(raw.values, RowError)
        if lost is not None and not group.rows and raw.values.get(POSITION) != OF_DOCUMENT:
            group.wrong = lost
        lost = None
        group.add(raw.values)
    if group is not None:
        yield RawRow(group.number, group.values())


class _Group:
    """The rows of one document so far."""

    def __init__(self, number: int, key: str) -> None:
        self.number, self.key = number, key
        self.rows: list[Mapping[str, Any]] = []
        self.wrong: RowError | None = None
        self._count = self._bytes = 0

    def add(self, values: Mapping[str, Any]) -> None:
        """Keep a row, as far as the document may be read."""
        self._count += 1
        self._bytes += sum(len(value) for value in values.values() if isinstance(value, str | bytes))
        if self._bytes > MAX_BYTES:
            self.wrong = self.wrong or RowError(TOO_LARGE, f"more than {MAX_BYTES:,} bytes")
        if self._count > MOST_NODES:
            self.wrong = self.wrong or RowError(TOO_LONG, f"more than {MOST_NODES:,} rows")
        if self.wrong is None:
            self.rows.append(values)
        else:
            self.rows.clear()

    def values(self) -> Mapping[str, Any] | RowError:
        """The document, or what is wrong with it."""
        return {ROWS: self.rows} if self.wrong is None else self.wrong


def _key(raw: RawRow, sample: str) -> tuple[str | None, RowError | None]:
    """The sample of a row, or what is wrong with the row."""
    if isinstance(raw.values, RowError):
        return None, raw.values
    key = raw.values.get(sample)
    return (key, None) if isinstance(key, str) else (None, RowError(WRONG_TYPE, f"{sample} is no string"))


def _sample_of(where: Location, number: int, sample: str) -> str | None:
    """The sample of a row; None where there is no such row, or it cannot be read."""
    if number < 0:
        return None
    return next((_key(raw, sample)[0] for raw in parquet_rows(where, number, number + 1, [sample], always)), None)
