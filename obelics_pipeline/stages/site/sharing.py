"""What pages share without being copies: keys of sentences and skeletons, counted by site, and what the counts say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.stages.dedup.shuffled_rows import whole, without_bucket
from obelics_pipeline.stages.site.passages import Keys

COMMON = 50  # sites; what stands on more is a common phrase, a licence or a quotation, and says nothing
SITE, SENTENCE, SKELETON = 0, 1, 2  # kinds of keys; a site's own key counts its documents

# How many documents of a site in a partition have a key. Of a key that is on more than COMMON sites in the partition
# the rows of COMMON + 1 of them are enough: so much a key costs, on however many pages it is.
KEYS = pa.schema(
    [
        pa.field("bucket", pa.int32()),
        pa.field("kind", pa.int8()),
        pa.field("key", pa.uint64()),
        pa.field("site", pa.uint64()),
        pa.field("documents", pa.int32()),
        pa.field("partition", pa.string()),
    ]
)

# A key that several documents have, a row for each partition and site: documents of the site and number of sites in the
# corpus, and one site of the others, the same for all who share the same sites (0: none).
SHARED = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("kind", pa.int8()),
        pa.field("key", pa.uint64()),
        pa.field("site", pa.uint64()),
        pa.field("documents", pa.int32()),
        pa.field("sites", pa.int32()),
        pa.field("other", pa.uint64()),
    ]
)

_DEALT = pa.schema([field for field in SHARED if field.name != "partition"])  # to one partition
_ODD = np.uint64(0x9E3779B97F4A7C15)
_KINDS = np.uint64(0xC2B2AE3D27D4EB4F)


def key_rows(kind: int, keys: Keys, sites: Keys, partition: str, buckets: int) -> pa.Table:
    """Rows of KEYS of one kind. `keys` and `sites` have one value for each document that has the key."""
    order = np.lexsort([sites, keys])
    keys, sites = keys[order], sites[order]
    new = np.flatnonzero(np.r_[True, (keys[1:] != keys[:-1]) | (sites[1:] != sites[:-1])][: len(keys)])
    documents = np.diff(np.r_[new, len(keys)])
    keys, sites = keys[new], sites[new]
    first = np.searchsorted(keys, keys)  # of the same key
    few = np.arange(len(keys)) - first <= COMMON
    n = int(few.sum())
    columns = {
        "bucket": ((keys[few] >> np.uint64(32)) % np.uint64(buckets)).astype(np.int32),
        "kind": np.full(n, kind, np.int8),
        "key": keys[few],
        "site": sites[few],
        "documents": documents[few].astype(np.int32),
        "partition": pa.array([partition] * n, pa.string()),
    }
    return pa.table(columns, schema=KEYS)


def share(rows: pa.Table, _bucket: str) -> ReduceOutput:
    """Rows of KEYS of whole keys to rows of SHARED; the note `sites` is how many sites have their own key here."""
    rows = whole([rows], without_bucket(KEYS))
    names = ["kind", "key", "site"]
    of_site = rows.group_by(names, use_threads=False).aggregate([("documents", "sum")])
    of_site = of_site.sort_by([(name, "ascending") for name in names])
    kind, key, site = (of_site[name].to_numpy() for name in names)
    documents = of_site["documents_sum"].to_numpy()
    starts = (
        np.flatnonzero(np.r_[True, (kind[1:] != kind[:-1]) | (key[1:] != key[:-1])]) if len(key) else np.zeros(0, int)
    )
    sizes = np.diff(np.r_[starts, len(key)])
    group = np.repeat(np.arange(len(starts)), sizes)
    least, second = site[starts], site[np.minimum(starts + 1, max(len(site) - 1, 0))]
    other = np.where(sizes[group] == 1, 0, np.where(site == least[group], second[group], least[group]))
    several = (np.add.reduceat(documents, starts) if len(starts) else sizes) > 1
    says = (kind == SITE) | (several[group] & (sizes[group] <= COMMON))
    found = pa.table(
        {
            **{name: of_site[name] for name in names},
            "documents": documents.astype(np.int32),
            "sites": sizes[group].astype(np.int32),
            "other": other.astype(np.uint64),
        }
    ).filter(pa.array(says))
    back = rows.group_by(["partition", *names], use_threads=False).aggregate([])
    joined = back.join(found, names, join_type="inner").select(SHARED.names).cast(SHARED)
    table = joined.sort_by([(name, "ascending") for name in ("partition", *names)])
    return ReduceOutput({"data": table}, {"sites": int((kind == SITE).sum())})


class Shared:
    """Looks keys up in rows of SHARED of one partition."""

    def __init__(self, tables: Sequence[pa.Table]) -> None:
        rows = whole(tables, _DEALT)
        places = _place(rows["kind"].to_numpy().astype(np.uint64), rows["key"].to_numpy(), rows["site"].to_numpy())
        order = np.argsort(places, kind="stable")
        self._places = places[order]
        self._documents, self._sites, self._other = (
            rows[name].to_numpy()[order] for name in ("documents", "sites", "other")
        )

    def look_up(self, kind: int, keys: Keys, site: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Keys]:
        """Of each key of a document of a site: documents of the site, sites, and the other site; zeros where alone."""
        if not len(self._places) or not len(keys):
            nothing = np.zeros(len(keys), np.int32)
            return nothing, nothing, np.zeros(len(keys), np.uint64)
        places = _place(np.uint64(kind), keys, np.uint64(site))
        at = np.minimum(np.searchsorted(self._places, places), len(self._places) - 1)
        there = self._places[at] == places
        return (
            np.where(there, self._documents[at], 0).astype(np.int32),
            np.where(there, self._sites[at], 0).astype(np.int32),
            np.where(there, self._other[at], np.uint64(0)).astype(np.uint64),
        )


def _place(kind: NDArray[np.uint64] | np.uint64, keys: Keys, site: Keys | np.uint64) -> Keys:
    """64 bits of a key of a kind on a site."""
    with np.errstate(over="ignore"):
        found: Keys = (keys ^ (np.asarray(site) * _ODD)) + np.asarray(kind) * _KINDS
    return found
