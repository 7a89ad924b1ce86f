"""Documents that were left out because another has the same: by rule, and the largest groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

SHOWN = 10


@dataclass(frozen=True)
class Group:
    """Documents that were left out for one. `url` is the kept one's, None if that is in another run."""

    rule: str
    kept: str  # doc_id
    url: str | None
    left_out: int


@dataclass(frozen=True)
class DuplicateRule:
    """Groups and documents left out by one rule."""

    name: str
    groups: int
    left_out: int


@dataclass(frozen=True)
class Duplicates:
    """By rule, the most frequent first; and the largest groups of all."""

    rules: Sequence[DuplicateRule]
    largest: Sequence[Group]


def duplicates_of(documents: pa.Table) -> Duplicates:
    """The duplicates of a run table."""
    groups = documents.filter(documents["duplicate_of"].is_valid()).group_by(["reason", "duplicate_of"])
    found = groups.aggregate([([], "count_all")])
    rows = list(zip(*(found[name].to_pylist() for name in ("reason", "duplicate_of", "count_all")), strict=True))
    counts: dict[str, list[int]] = {}
    for rule, _, n in rows:
        counts.setdefault(rule, []).append(n)
    rules = [DuplicateRule(name, len(sizes), sum(sizes)) for name, sizes in counts.items()]
    largest = sorted(rows, key=lambda row: (-row[2], row[0], row[1]))[:SHOWN]
    at = pc.index_in(pa.array([of for _, of, _ in largest], pa.string()), documents["doc_id"].combine_chunks())
    urls = documents["url"].take(at).to_pylist()
    return Duplicates(
        sorted(rules, key=lambda rule: (-rule.left_out, rule.name)),
        [Group(rule, of, url, n) for (rule, of, n), url in zip(largest, urls, strict=True)],
    )
