"""A region of the map that a person has chosen: which documents it has, and what would drop them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from obelics_pipeline.inspect.map.polygon import inside
from obelics_pipeline.inspect.map.rules import RegionRule, find_rules, sites_of
from obelics_pipeline.inspect.map.stored import CorpusMap
from obelics_pipeline.inspect.run_tables.documents import score_names

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Described:
    """What is known of a region."""

    documents: int
    kept: int  # that the run has not dropped: what rules are about
    rules: list[RegionRule]  # best first
    sites: list[tuple[str, int, int]]  # site, documents in the region, documents in all; most in the region first


def ids_inside(of: CorpusMap, corners: Sequence[tuple[float, float]]) -> list[str]:
    """The documents in a polygon, in the order of their ids. Raises ValueError for fewer than three corners."""
    points = np.column_stack([of.points[axis].to_numpy(zero_copy_only=False) for axis in ("x", "y")])
    found: list[str] = of.points["doc_id"].filter(pa.array(inside(points, corners))).to_pylist()
    return found


def mask_of(documents: pa.Table, doc_ids: Collection[str]) -> Mask:
    """Which rows of a run table have these ids. Ids that it does not have are ignored."""
    return np.asarray(pc.is_in(documents["doc_id"], value_set=pa.array(list(doc_ids), pa.string())))


def describe(documents: pa.Table, region: Mask) -> Described:
    """What is in the region, and the rules that drop it. `documents` are a run table's, of the whole map.

    Rules are measured on documents that the run keeps: the others need none.
    """
    kept = np.asarray(documents["reason"].is_null())
    rows = documents.filter(pa.array(kept))
    rules = find_rules({name: rows[name] for name in score_names(rows)}, region[kept])
    sites = sites_of(documents["site"].to_pylist(), region)
    return Described(int(region.sum()), int((region & kept).sum()), rules, sites)
