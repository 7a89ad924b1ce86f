"""A file of a run's index held to the manifest: its bytes, its columns, and whose rows stand in it, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.shards.index import ROWS_PER_GROUP, fixed_columns, index_schema
from obelics_pipeline.core.shards.manifest import IndexPart
from obelics_pipeline.core.shards.run_index import RowSpan
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.core.storage import Location, file_sha256, local_copy, open_parquet

PartTask = tuple[IndexPart, Sequence[ShardEntry]]  # a file, and the tars that it should have the rows of


@dataclass(frozen=True)
class CheckedPart:
    """What is wrong with a file of the index, a line each, and where the rows of its tars are.

    `spans` are by tar, in their order; None where all rows are where the manifest says. They are empty where the file
    is not `usable`.
    """

    problems: tuple[str, ...]
    usable: bool = True
    spans: tuple[RowSpan, ...] | None = None

    def to_json(self) -> list[Any]:
        """The values in their order: an engine may bring them from its workers as JSON."""
        spans = None if self.spans is None else [[span.name, span.start, span.stop] for span in self.spans]
        return [list(self.problems), self.usable, spans]

    @classmethod
    def from_json(cls, value: Sequence[Any]) -> CheckedPart:
        """The inverse of `to_json`."""
        problems, usable, spans = value
        return cls(tuple(problems), usable, None if spans is None else tuple(RowSpan(*span) for span in spans))


def check_part(folder: Location, score_names: Sequence[str], task: PartTask) -> CheckedPart:
    """Read a file of the index in a run's folder; a group of rows is held in memory."""
    part, tars = task
    found: list[str] = []
    try:
        with local_copy(folder / part.name) as path:
            if path.stat().st_size != part.bytes or file_sha256(path) != part.sha256:
                found.append(f"{part.name}: its sha256 is not the manifest's")
            schema = pq.read_schema(path)
            if not schema.equals(index_schema(score_names, fixed_columns(schema))):
                found.append(f"{part.name}: cannot be used: its columns are {', '.join(schema.names)}")
                return CheckedPart(tuple(found), usable=False, spans=())
            there = list(_tars_in_order(path))
    except (OSError, ValueError, pa.ArrowException) as error:
        found.append(f"{part.name}: cannot be read: {str(error).splitlines()[0][:200]}")
        return CheckedPart(tuple(found), usable=False, spans=())
    if there == [(tar.name, tar.documents) for tar in tars if tar.documents]:
        return CheckedPart(tuple(found))
    spans = dict[str, RowSpan]()
    listed, start = {tar.name for tar in tars}, 0
    for name, rows in there:
        if name not in listed or name in spans:
            found.append(f"{part.name}: rows of {name!a}, which the manifest does not list, or lists elsewhere")
        else:
            spans[name] = RowSpan(part.name, start, start + rows)
        start += rows
    if list(spans) != [tar.name for tar in tars if tar.name in spans]:
        found.append(f"{part.name}: its tars do not follow each other as in the manifest")
    nothing = RowSpan(part.name, 0, 0)
    return CheckedPart(tuple(found), spans=tuple(spans.get(tar.name, nothing) for tar in tars))


def _tars_in_order(path: Path) -> Iterator[tuple[str, int]]:
    """Each tar with how many rows it has, as they follow each other; one that comes again comes twice.

    All columns are read: the check of a tar, which reads its rows, then meets no damage.
    """
    shard, rows = "", 0
    with open_parquet(path) as source:
        for batch in source.iter_batches(batch_size=ROWS_PER_GROUP):
            runs = pc.run_end_encode(batch["shard"])
            first = 0
            for name, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
                if rows and name != shard:
                    yield shard, rows
                    rows = 0
                shard, rows, first = name, rows + end - first, end
    if rows:
        yield shard, rows
