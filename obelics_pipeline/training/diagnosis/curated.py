"""The curation runs that a plan's documents come from: the scores that these documents had there, and all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from obelics_pipeline.core.shards.index import NAMES
from obelics_pipeline.core.shards.run_index import index_of, unreadable
from obelics_pipeline.core.storage import Location, location, open_parquet
from obelics_pipeline.training.diagnosis.robust import Numbers

MOST = 1_000_000  # documents of a run that a percentile is taken among: of more, row groups spread evenly


@dataclass(frozen=True, eq=False)
class Curated:
    """The scores of the documents of a curation run, an array a score; NaN where one was not measured."""

    folder: str
    documents: int  # of the run
    scores: Mapping[str, Numbers]  # of those that were read


def folder_of(shard: str) -> str | None:
    """The curation run that a tar belongs to; None where it does not lie as a run's tars do."""
    parent, _, name = shard.rstrip("/").rpartition("/")
    folder, _, shards = parent.rpartition("/")
    return folder if name.endswith(".tar") and shards == "shards" and folder else None


def read_curated(folder: str) -> Curated | None:
    """The scores of a run, None where it has no index any more. Raises UserError for one that cannot be read."""
    index = index_of(location(folder))
    if index is None:
        return None
    names = _scores(index.schema())
    groups, total = zip(*map(_size, index.paths), strict=True)
    every = max(1, -(-sum(total) // MOST))
    tables, before = [], 0
    for path, count in zip(index.paths, groups, strict=True):
        tables.append(_read_groups(path, range(-before % every, count, every), names))
        before += count
    table = pa.concat_tables(tables)
    return Curated(folder, sum(total), {name: _numbers(table[name]) for name in names})


def _scores(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if field.name not in NAMES and pa.types.is_floating(field.type)]


def _size(path: Location) -> tuple[int, int]:
    """How many groups of rows, and how many rows, a file of an index has."""
    try:
        with open_parquet(path) as source:
            return source.num_row_groups, source.metadata.num_rows
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


def _read_groups(path: Location, groups: Sequence[int], columns: list[str]) -> pa.Table:
    try:
        with open_parquet(path) as source:
            return source.read_row_groups(list(groups), columns=columns)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


def scores_of(folder: str, doc_ids: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """The scores that some documents had in a run, by id; those that it does not have are left out."""
    index = index_of(location(folder)) if doc_ids else None
    if index is None:
        return {}
    table = index.table(filters=[("doc_id", "in", sorted(set(doc_ids)))])
    names = _scores(table.schema)
    return {row["doc_id"]: {name: row[name] for name in names} for row in table.to_pylist()}


def percentile(value: float, among: Numbers) -> float | None:
    """The share of measured values that are below, and half of those that are equal, from 0 to 100."""
    fine = among[np.isfinite(among)]
    if not len(fine):
        return None
    return float(100 * (np.count_nonzero(fine < value) + 0.5 * np.count_nonzero(fine == value)) / len(fine))


def _numbers(column: pa.ChunkedArray) -> Numbers:
    values: Numbers = column.fill_null(float("nan")).to_numpy().astype(np.float64)
    return values
