"""What is done with one bucket of a shuffle: a pure function of its rows, whose tables are committed as a unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.commit import Attempt, Manifest, read_manifest
from obelics_pipeline.dedup.candidates import TEXT, URL
from obelics_pipeline.dedup.components import contract, spread
from obelics_pipeline.dedup.leaders import edges
from obelics_pipeline.dedup.messages import CANDIDATES, EDGES, USES, members_of, whole
from obelics_pipeline.dedup.uses import overused
from obelics_pipeline.storage import Place, read_table
from obelics_pipeline.unit import Unit

SKETCH_AGREES = 1.0  # threshold where every key is proof and no row has a sketch


@dataclass(frozen=True)
class Judged:
    """What came of a bucket: tables by their role in the unit, and numbers that the driver must know."""

    tables: Mapping[str, pa.Table]
    notes: Mapping[str, Any] = field(default_factory=dict)


Judge = Callable[[list[pa.Table], int], Judged]  # the rows of a bucket as they were dealt out, and its number


def judge_unit(unit: Unit, *, folder: Place, dealt_folder: Place, judge: Judge) -> Manifest:
    """Read the rows of a bucket, judge them, commit what came of it. The rows of each table are noted by its role."""
    done = read_manifest(folder, unit.name)
    if done is not None:
        return done
    judged = judge([read_table(dealt_folder / name) for name in unit.payload["files"]], int(unit.payload["value"]))
    with Attempt(folder, unit) as attempt:
        for role, table in judged.tables.items():
            pq.write_table(table, attempt.file(role, ".parquet"), compression="zstd")
        rows = {role: table.num_rows for role, table in judged.tables.items()}
        return attempt.commit([], {"rows": rows, **judged.notes})


def link(rows: list[pa.Table], _bucket: int, *, threshold: float, buckets: int) -> Judged:
    """Candidates to edges between texts ("data"), and to the groups of captures of one page ("members")."""
    found = edges(whole(rows, _without_bucket(CANDIDATES)), threshold)
    texts = found.filter(pc.equal(found["rule"], TEXT))
    return Judged({"data": spread(texts, buckets), "members": members_of(found.filter(pc.equal(found["rule"], URL)))})


def contract_turn(rows: list[pa.Table], bucket: int, *, buckets: int, turn: int) -> Judged:
    """One turn of bringing edges to their group's first; notes how many documents were not settled before it."""
    found, unsettled = contract(whole(rows, EDGES), bucket, buckets, turn)
    tables = {"data": spread(found, buckets), "members": members_of(found)}
    return Judged(tables, {"unsettled": unsettled})


def limit(rows: list[pa.Table], _bucket: int, *, limits: Mapping[str, int]) -> Judged:
    """Uses to what is used too often."""
    return Judged({"data": overused(whole(rows, _without_bucket(USES)), limits)})


def first(rows: list[pa.Table], _bucket: int) -> Judged:
    """Members of groups to edges at the first of them: every other one is its duplicate."""
    return Judged({"data": edges(whole(rows, _without_bucket(CANDIDATES)), SKETCH_AGREES)})


def _without_bucket(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field for field in schema if field.name != "bucket"])
