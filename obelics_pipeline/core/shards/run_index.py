"""The index of a run as its readers need it: one file, or parts that follow each other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.index_name import INDEX, is_index_name
from obelics_pipeline.core.shards.index import read_index, read_span
from obelics_pipeline.core.shards.manifest import IndexPart, RunManifest, standing_manifest
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.core.storage import Location, names_in, read_schema, read_table, size_of

Row = dict[str, Any]


@dataclass(frozen=True)
class RunIndex:
    """The files of an index in the folder of a run, in the order of their rows. What reads them raises UserError."""

    folder: Location
    names: tuple[str, ...]

    @property
    def paths(self) -> tuple[Location, ...]:
        """Where the files lie."""
        return tuple(self.folder / name for name in self.names)

    def schema(self) -> pa.Schema:
        """The columns: all parts have the same."""
        try:
            return read_schema(self.paths[0])
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self.paths[0], error) from None

    def table(self, columns: Sequence[str] | None = None, filters: Any = None) -> pa.Table:
        """All rows, or those that pass the filters, as a table."""
        return pa.concat_tables([self._table(path, columns, filters) for path in self.paths])

    def _table(self, path: Location, columns: Sequence[str] | None, filters: Any) -> pa.Table:
        try:
            return read_table(path, columns, filters)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(path, error) from None

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """The rows in their order, a group of them in memory at a time."""
        for path in self.paths:
            try:
                yield from read_index(path, columns)
            except (OSError, pa.ArrowException) as error:
                raise unreadable(path, error) from None


def unreadable(path: Location, error: Exception) -> UserError:
    """What is said of a file of an index that cannot be read."""
    reason = " ".join(str(error).split())[:200]
    return UserError(f"{path}: cannot be read ({reason}); obelics validate {path.parent} says more")


def index_of(folder: Location) -> RunIndex | None:
    """The index that the manifest of a run names, or, without one, that lies there; None where no file of it does."""
    manifest = standing_manifest(folder)
    names = [part.name for part in manifest.index] if manifest is not None else index_files(folder)
    if all(size_of(folder / name) is None for name in names):
        return None
    return RunIndex(folder, tuple([INDEX] if INDEX in names else names))


def demand_index(folder: Location) -> RunIndex:
    """As `index_of`. Raises UserError where none is there."""
    index = index_of(folder)
    if index is None:
        raise UserError(f"{folder / INDEX}: cannot be read (it is missing); obelics validate {folder} says more")
    return index


def index_files(folder: Location) -> list[str]:
    """The names of the files in a run's folder that are an index or parts of one, whether a manifest names them."""
    return sorted(
        (name for name in names_in(folder, "index") if is_index_name(name)), key=lambda name: (len(name), name)
    )


def tars_of_parts(manifest: RunManifest) -> Iterator[tuple[IndexPart, Sequence[ShardEntry]]]:
    """Each part of the index with the tars that it has the rows of."""
    shards = iter(manifest.shards)
    for part in manifest.index:
        yield part, list(islice(shards, part.tars))


@dataclass(frozen=True)
class RowSpan:
    """Rows `start` to `stop` (exclusive) of a file of the index."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True)
class PartBounds:
    """Which rows of the index are in which part: `starts` has the first row of each, and then how many there are."""

    names: tuple[str, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, manifest: RunManifest) -> PartBounds:
        """By sums over the tars of the manifest: no file is read."""
        counts = [sum(tar.documents for tar in tars) for _, tars in tars_of_parts(manifest)]
        return cls(tuple(part.name for part in manifest.index), (0, *accumulate(counts)))

    def spans(self, start: int, stop: int) -> tuple[RowSpan, ...]:
        """Where the rows `start` to `stop` (exclusive) of the whole index lie."""
        found = []
        number = max(bisect_right(self.starts, start) - 1, 0)
        while number < len(self.names) and self.starts[number] < stop:
            first, after = self.starts[number], self.starts[number + 1]
            low, high = max(start - first, 0), min(stop, after) - first
            if low < high:
                found.append(RowSpan(self.names[number], low, high))
            number += 1
        return tuple(found)


def read_spans(folder: Location, spans: Sequence[RowSpan]) -> list[Row]:
    """The rows of these spans, one after the other. Raises UserError where a file cannot be read."""
    rows: list[Row] = []
    for span in spans:
        try:
            rows += read_span(folder / span.name, span.start, span.stop)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(folder / span.name, error) from None
    return rows
