"""Map steps that count: which texts are those of several pages, and what a unit's documents say of their sites."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.storage import Location, open_parquet, read_table
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.net.registered_domain import site_of_url
from obelics_pipeline.stages.dedup.apply import REPEATED
from obelics_pipeline.stages.dedup.candidates import TEXT
from obelics_pipeline.stages.dedup.groups import Groups, read_groups
from obelics_pipeline.stages.dedup.uses import Use, UseCounts, User, verdicts
from obelics_pipeline.stages.extract.links import LinkCounts
from obelics_pipeline.stages.site.evidence import (
    OWN,
    POINT_NAMES,
    POINTS,
    SHARE_NAMES,
    Seen,
    Sums,
    site_key,
    weights_of,
)
from obelics_pipeline.stages.site.keys import read_passages
from obelics_pipeline.stages.site.shares import Shares, shares_of
from obelics_pipeline.stages.site.sharing import Shared

TEXT_GROUP = "text_group"  # rule
LIMITS = {TEXT_GROUP: 2}  # pages from which on a text is that of several

PageId = tuple[str, int, str]  # WARC file, offset, URL: the parts of a split page share them


def groups_unit(
    unit: Unit, *, folder: Location, candidate_folder: Location, member_folder: Location, buckets: int
) -> Manifest:
    """Count the pages of each group of near-duplicate texts, further captures of a page left out.

    Without this count a page that was captured twice would be its own near duplicate.
    """
    groups = read_groups(unit, candidate_folder, member_folder)
    members = [(page, groups.group(page, TEXT)) for page in groups.pages()]
    sizes = Counter(group for _, group in members)
    sums, seen = UseCounts(), set[tuple[int, bytes]]()
    for page, group in members:
        alone = sizes[group] == 1 and not groups.has_members(page, TEXT)
        if not alone and groups.is_first_capture(page) and (page.page, group) not in seen:
            seen.add((page.page, group))
            sums.add(Use(TEXT_GROUP, group, 1), User(page.row, page.doc, page.recency))
    partition = unit.payload["partition"]
    table = sums.table(unit.payload["generation"], partition, buckets)
    with Attempt(folder, unit) as attempt:
        pq.write_table(table, attempt.file("data", ".parquet"), compression="zstd")
        return attempt.commit([], {"rows": {"data": table.num_rows}, "partition": partition})


@dataclass(frozen=True, slots=True)
class _Row:
    """A document as it is counted."""

    doc_id: str
    reason: str | None
    language: str
    score: float | None
    general: Mapping[str, Any]
    paragraphs: int
    templates: int

    @property
    def page(self) -> PageId:
        return self.general["warc_filename"], self.general["warc_record_offset"], self.general["url"]


def evidence_unit(
    unit: Unit,
    *,
    folder: Location,
    document_folder: Location,
    extract_folder: Location,
    candidate_folder: Location,
    member_folder: Location,
    group_folder: Location,
    key_folder: Location,
    shared_folder: Location,
    score: str | None,
    buckets: int,
) -> Manifest:
    """Add up what the documents of one unit say of their sites, and note what each of the kept ones adds itself."""
    payload = unit.payload
    groups, several = None, set[bytes]()
    shares: Iterator[Shares] = repeat(Shares())
    if "keys" in payload:
        shares = _shares(committed(key_folder, payload["keys"]).path(key_folder, "own"), payload, shared_folder)
    if "candidates" in payload:
        groups = read_groups(unit, candidate_folder, member_folder)
        several = set(verdicts([read_table(group_folder / name) for name in payload["groups"]], TEXT_GROUP))
    sums, scores, kept = Sums(), defaultdict[PageId, list[int]](lambda: [0] * POINTS), list[tuple[PageId, Shares]]()
    pages = set[PageId]()
    source = committed(document_folder, payload["documents"]).path(document_folder, "data")
    for row in _rows(source, score, only_kept=groups is None):
        key, page = site_key(site_of_url(row.general["url"])), row.page
        shared = next(shares) if row.reason is None else Shares()
        if row.reason is None:
            kept.append((page, shared))
        if row.score is not None:
            _weigh(scores[page], row.score)
        if key is not None and (groups is None or _counts(groups, row)):
            is_copy = groups is not None and _is_copy(groups, row, several)
            sums.add(key, _seen(row, page not in pages, is_copy, shared))
            pages.add(page)
    if score is not None:
        extracted = committed(extract_folder, payload["extracted"]).path(extract_folder, "data")
        for general, value in _dropped_scores(extracted, score):
            key = site_key(site_of_url(general["url"]))
            _weigh(scores[general["warc_filename"], general["warc_record_offset"], general["url"]], value)
            if key is not None:
                sums.add(key, Seen(score=value))
    table = sums.table(payload["partition"], buckets)
    with Attempt(folder, unit) as attempt:
        pq.write_table(table, attempt.file("data", ".parquet"), compression="zstd")
        pq.write_table(_own(kept, scores), attempt.file("own", ".parquet"), compression="zstd")
        return attempt.commit([], {"rows": {"data": table.num_rows}, "partition": payload["partition"]})


def _shares(passages: Location, payload: Mapping[str, Any], shared_folder: Location) -> Iterator[Shares]:
    """What each kept document of a unit shares, in their order."""
    shared = Shared([read_table(shared_folder / name) for name in payload["shared"]])
    for site, of_document in read_passages(passages):
        yield shares_of(of_document, site, shared) if site is not None else Shares()


def _seen(row: _Row, first_of_page: bool, is_copy: bool, shares: Shares) -> Seen:
    seen = Seen(row.language, 1, row.score, is_copy, row.paragraphs, row.templates, shares=shares)
    if first_of_page:
        general = row.general
        names = ("link_count", "outbound_link_count", "affiliate_link_count")
        seen.links = LinkCounts(*(general.get(name, 0) for name in names))
        seen.day = date.fromisoformat(general["published"]).toordinal() if "published" in general else None
    return seen


def _counts(groups: Groups, row: _Row) -> bool:
    """Whether a document is of the first capture of its page."""
    return groups.is_first_capture(groups.page(row.doc_id))


def _is_copy(groups: Groups, row: _Row, several: set[bytes]) -> bool:
    return groups.group(groups.page(row.doc_id), TEXT) in several


def _rows(source: Location, score: str | None, only_kept: bool) -> Iterator[_Row]:
    """The documents of a file, from the columns that matter here."""
    columns = ["doc_id", "general_metadata", "language", "reason", *([score] if score is not None else [])]
    nodes = ["nodes.list.element.kind", "nodes.list.element.reason"]
    with open_parquet(source) as file:
        for number in range(file.num_row_groups):
            table = file.read_row_group(number, columns=[*columns, *nodes])
            if only_kept:
                table = table.filter(table["reason"].is_null())
            values = table.select(columns).to_pylist()
            for value, paragraphs, templates in zip(values, *_paragraphs(table["nodes"]), strict=True):
                yield _Row(
                    value["doc_id"],
                    value["reason"],
                    value["language"] or "",
                    None if score is None else value[score],
                    json.loads(value["general_metadata"]),
                    paragraphs,
                    templates,
                )


def _paragraphs(column: pa.ChunkedArray) -> tuple[list[int], list[int]]:
    """How many paragraphs each document has, those that repeat included, and how many these are."""
    all_, repeated = list[int](), list[int]()
    for chunk in column.chunks:
        nodes, lengths = chunk.flatten(), pc.list_value_length(chunk)
        is_text, reason = pc.equal(nodes.field("kind"), "text"), nodes.field("reason").cast(pa.string())
        is_repeated = pc.and_(is_text, pc.fill_null(pc.equal(reason, REPEATED), False))
        ends = np.cumsum(pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False))
        for flags, counts in ((pc.and_(is_text, reason.is_null()), all_), (is_repeated, repeated)):
            before = np.concatenate([[0], np.cumsum(flags.to_numpy(zero_copy_only=False))])
            counts += np.diff(before[ends], prepend=0).tolist()
    return [some + more for some, more in zip(all_, repeated, strict=True)], repeated


def _dropped_scores(source: Location, score: str) -> Iterator[tuple[dict[str, Any], float]]:
    """What is known of the documents that a filter dropped, of those that have the score: the worst are among them."""
    with open_parquet(source) as file:
        for number in range(file.num_row_groups):
            table = file.read_row_group(number, columns=["general_metadata", "reason", score])
            table = table.filter(pc.and_(table["reason"].is_valid(), table[score].is_valid()))
            for value in table.to_pylist():
                yield json.loads(value["general_metadata"]), value[score]


def _weigh(weights: list[int], score: float) -> None:
    for point, weight in weights_of(score):
        weights[point] += weight


def _own(kept: Sequence[tuple[PageId, Shares]], scores: Mapping[PageId, Sequence[int]]) -> pa.Table:
    nothing = [0] * POINTS
    columns: dict[str, list[Any]] = {"site": [site_key(site_of_url(url)) for (_, _, url), _ in kept]}
    rows = [scores.get(page, nothing) for page, _ in kept]
    columns |= {name: [row[number] for row in rows] for number, name in enumerate(POINT_NAMES)}
    columns |= {name: [getattr(shares, name) for _, shares in kept] for name in SHARE_NAMES}
    return pa.table(columns, schema=OWN)
