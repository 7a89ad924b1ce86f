"""Map steps that count: what the documents of a unit use, before the fetch and after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.tables import read_kept
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.stages.dedup.groups import Groups, Page, read_groups
from obelics_pipeline.stages.dedup.uses import Use, UseCounts, User, image_uses, phash_uses, text_uses

Phashes = Callable[[Sequence[Location]], Mapping[str, str]]  # files of fetched answers -> perceptual hash by image URL
UsesOf = Callable[[Document, Page, bool], Iterable[Use]]  # of a document, and whether it counts


def use_unit(
    unit: Unit,
    *,
    folder: Location,
    candidate_folder: Location,
    member_folder: Location,
    extract_folder: Location,
    config: DedupConfig,
) -> Manifest:
    """Count the paragraphs and image URLs of the kept documents of one extracted unit."""
    groups = read_groups(unit, candidate_folder, member_folder)
    seen: dict[int, set[bytes]] = defaultdict(set)  # by page

    def uses(document: Document, page: Page, counts: bool) -> Iterable[Use]:
        if config.paragraphs.min_count is not None:
            yield from text_uses(document, config.paragraphs, counts, seen[page.page])
        if config.images.url_max is not None:
            yield from image_uses(document, config.images, counts)

    source = committed(extract_folder, unit.payload["extracted"]).path(extract_folder, "data")
    return _count(unit, folder, source, groups, uses, config.buckets)


def phash_unit(
    unit: Unit,
    *,
    folder: Location,
    candidate_folder: Location,
    member_folder: Location,
    document_folder: Location,
    answer_folder: Location,
    read_phashes: Phashes,
    config: DedupConfig,
) -> Manifest:
    """Count what the fetched images of the documents of one unit look like."""
    groups = read_groups(unit, candidate_folder, member_folder)
    phashes = read_phashes([answer_folder / name for name in unit.payload["answers"]])

    def uses(document: Document, _page: Page, counts: bool) -> Iterable[Use]:
        return phash_uses(document.images(), phashes, counts)

    source = committed(document_folder, unit.payload["documents"]).path(document_folder, "data")
    return _count(unit, folder, source, groups, uses, config.buckets)


def _count(unit: Unit, folder: Location, source: Location, groups: Groups, uses: UsesOf, buckets: int) -> Manifest:
    sums = UseCounts()
    for document in read_kept(source):
        page = groups.page(document.doc_id)
        user = User(page.row, page.doc, page.recency)
        for use in uses(document, page, groups.counts(page)):
            sums.add(use, user)
    partition = unit.payload["partition"]
    table = sums.table(unit.payload["generation"], partition, buckets)
    with Attempt(folder, unit) as attempt:
        pq.write_table(table, attempt.file("data", ".parquet"), compression="zstd")
        return attempt.commit([], {"rows": {"data": table.num_rows}, "partition": partition})
