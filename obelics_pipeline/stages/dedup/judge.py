"""What is made of one bucket of shuffled rows: pure functions of its rows, for an engine's shuffle to call."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.stages.dedup.candidates import TEXT, URL
from obelics_pipeline.stages.dedup.components import contract, edges_by_bucket
from obelics_pipeline.stages.dedup.leaders import edges
from obelics_pipeline.stages.dedup.shuffled_rows import CANDIDATES, EDGES, USES, members_of, whole, without_bucket
from obelics_pipeline.stages.dedup.uses import overused

SKETCH_AGREES = 1.0  # threshold where every key is proof and no row has a sketch


def link(rows: pa.Table, _bucket: str, *, threshold: float, buckets: int) -> ReduceOutput:
    """Candidates to edges between texts ("data"), and to the groups of captures of one page ("members")."""
    found = edges(whole([rows], without_bucket(CANDIDATES)), threshold)
    texts = found.filter(pc.equal(found["rule"], TEXT))
    members = members_of(found.filter(pc.equal(found["rule"], URL)))
    return ReduceOutput({"data": edges_by_bucket(texts, buckets), "members": members})


def contract_turn(rows: pa.Table, bucket: str, *, buckets: int, turn: int) -> ReduceOutput:
    """One turn of bringing edges to their group's first; notes how many documents were not settled before it."""
    found, unsettled = contract(whole([rows], EDGES), int(bucket), buckets, turn)
    return ReduceOutput(
        {"data": edges_by_bucket(found, buckets), "members": members_of(found)}, {"unsettled": unsettled}
    )


def limit(rows: pa.Table, _bucket: str, *, limits: Mapping[str, int]) -> ReduceOutput:
    """Uses to what is used too often."""
    return ReduceOutput({"data": overused(whole([rows], without_bucket(USES)), limits)})


def first(rows: pa.Table, _bucket: str) -> ReduceOutput:
    """Members of groups to edges at the first of them: every other one is its duplicate."""
    return ReduceOutput({"data": edges(whole([rows], without_bucket(CANDIDATES)), SKETCH_AGREES)})
