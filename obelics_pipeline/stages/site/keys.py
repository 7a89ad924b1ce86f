"""Map step: the keys of a unit's documents, counted by site, and kept by document for what is shared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.storage import Location, open_parquet
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.net.registered_domain import site_of_url
from obelics_pipeline.stages.dedup.groups import read_groups
from obelics_pipeline.stages.site.evidence import site_key
from obelics_pipeline.stages.site.passages import Keys, Passages, has_keys, passages_of
from obelics_pipeline.stages.site.sharing import KEYS, SENTENCE, SITE, SKELETON, key_rows

# The keys of a kept document of a unit, in their order; `site` is null where it has none.
PASSAGES = pa.schema(
    [
        pa.field("site", pa.uint64()),
        pa.field("sentences", pa.list_(pa.uint64())),
        pa.field("skeletons", pa.list_(pa.uint64())),
    ]
)


def short_site(url: str) -> int | None:
    """64 bits of a page's site; None where it has none."""
    key = site_key(site_of_url(url))
    return int.from_bytes(key[:8], "little") or 1 if key is not None else None


def keys_unit(
    unit: Unit,
    *,
    folder: Location,
    document_folder: Location,
    candidate_folder: Location,
    member_folder: Location,
    buckets: int,
) -> Manifest:
    """Count the keys of the documents of one unit. Of near-duplicates the first alone counts, of captures the first."""
    groups = read_groups(unit, candidate_folder, member_folder)
    source = committed(document_folder, unit.payload["documents"]).path(document_folder, "data")
    partition, counted = unit.payload["partition"], _Counted()
    with Attempt(folder, unit) as attempt:
        with pq.ParquetWriter(attempt.file("own", ".parquet"), PASSAGES, compression="zstd") as writer:
            for rows in _documents(source):
                found = list[dict[str, Any]]()
                for row in rows:
                    url = json.loads(row["general_metadata"])["url"]
                    texts = [
                        n["text"] for n in row["nodes"] if n["kind"] == "text" and has_keys(n["role"], n["reason"])
                    ]
                    site, passages = short_site(url), passages_of(texts, row["language"])
                    found.append({"site": site, "sentences": passages.sentences, "skeletons": passages.skeletons})
                    page = groups.page(row["doc_id"])
                    if site is not None and groups.counts(page):
                        counted.add(page.page, site, passages)
                writer.write_table(pa.Table.from_pylist(found, PASSAGES))
        table = counted.table(partition, buckets)
        pq.write_table(table, attempt.file("data", ".parquet"), compression="zstd")
        return attempt.commit([], {"rows": {"data": table.num_rows}, "partition": partition})


def read_passages(path: Location) -> Iterator[tuple[int | None, Passages]]:
    """The sites and keys that a unit kept, by document in their order."""
    with open_parquet(path) as file:
        for number in range(file.num_row_groups):
            for row in file.read_row_group(number).to_pylist():
                skeletons = None if row["skeletons"] is None else np.array(row["skeletons"], np.uint64)
                yield row["site"], Passages(np.array(row["sentences"], np.uint64), skeletons)


def keys_in(passages: pa.Table) -> set[int]:
    """Every key that rows of PASSAGES name; a site has one too."""
    lists = [pc.list_flatten(passages[name]) for name in ("sentences", "skeletons")]
    return {key for keys in (*lists, passages["site"].drop_null()) for key in keys.to_pylist()}


def _documents(source: Location) -> Iterator[list[dict[str, Any]]]:
    """The kept documents of a file, from the columns that matter here, a row group at a time."""
    names = ["doc_id", "general_metadata", "language", "reason"]
    nodes = [f"nodes.list.element.{name}" for name in ("kind", "role", "reason", "text")]
    with open_parquet(source) as file:
        for number in range(file.num_row_groups):
            table = file.read_row_group(number, columns=[*names, *nodes])
            yield table.filter(table["reason"].is_null()).to_pylist()


class _Counted:
    """Collects the keys of the documents that count; the parts of a split page are one page."""

    def __init__(self) -> None:
        self._of: dict[int, list[tuple[Keys, int, int]]] = {SITE: [], SENTENCE: [], SKELETON: []}

    def add(self, page: int, site: int, passages: Passages) -> None:
        """Add a document of a page."""
        self._of[SITE].append((np.array([site], np.uint64), page, site))
        self._of[SENTENCE].append((passages.sentences, page, site))
        if passages.skeletons is not None:
            self._of[SKELETON].append((passages.skeletons, page, site))

    def table(self, partition: str, buckets: int) -> pa.Table:
        """The rows of KEYS, sorted."""
        tables = [KEYS.empty_table()]
        for kind, of_kind in self._of.items():
            sizes = [len(keys) for keys, _, _ in of_kind]
            if sum(sizes):
                keys = np.concatenate([keys for keys, _, _ in of_kind])
                pages = np.repeat(np.array([page for _, page, _ in of_kind], np.int64), sizes)
                sites = np.repeat(np.array([site for _, _, site in of_kind], np.uint64), sizes)
                order = np.lexsort([pages, keys])
                keys, pages, sites = keys[order], pages[order], sites[order]
                new = np.r_[True, (keys[1:] != keys[:-1]) | (pages[1:] != pages[:-1])]
                tables.append(key_rows(kind, keys[new], sites[new], partition, buckets))
        return pa.concat_tables(tables)
