"""The rows that a global step shuffles: small keyed rows, never a document's text. Their columns and their order.

A shuffled row goes to the bucket of its key. Verdicts go back to the partition (the extracted unit) that the row came
from. Engines promise no order of rows, so a reader of a group sorts it by `ORDER`.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

KEY = pa.binary()  # 16 bytes, 128 bits: among 10^10 keys two meet by chance once in 10^18 corpora
DOC = pa.binary()  # the doc_id, as 16 bytes

# Which of two documents comes first: the one of an older run (see `--against`), then the better `recency` (0 where the
# first in the input is kept, minus the capture's seconds where the newest is), then the position in the input.
ORDER = ("generation", "recency", "partition", "row")

_DOCUMENT = [
    pa.field("generation", pa.int16()),
    pa.field("recency", pa.int64()),
    pa.field("partition", pa.string()),  # name of the extracted unit
    pa.field("row", pa.int32()),  # of the unit's documents; of a split page that is meant as a whole, its first
    pa.field("doc", DOC),
]

# A document (rule "text": one row per band) or a page (rule "url") and a key that its duplicates share.
CANDIDATES = pa.schema(
    [
        pa.field("bucket", pa.int32()),
        pa.field("rule", pa.string()),
        pa.field("key", KEY),
        pa.field("sketch", pa.binary()),  # verifies a candidate of rule "text"; null where the key itself is proof
        *_DOCUMENT,
    ]
)

# `doc` duplicates `of_doc`, which comes before it in `ORDER`.
EDGES = pa.schema(
    [pa.field("rule", pa.string()), *_DOCUMENT, *(field.with_name(f"of_{field.name}") for field in _DOCUMENT)]
)


# The groups of a document: `group` is the doc_id of the group's first. Documents alone are in no row.
MEMBERS = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("rule", pa.string()),
        pa.field("row", pa.int32()),
        pa.field("doc", DOC),
        pa.field("group", DOC),
    ]
)

# How often something is used in a partition (rule "paragraph", "image_url" or "phash"), and by which document first.
USES = pa.schema(
    [
        pa.field("bucket", pa.int32()),
        pa.field("rule", pa.string()),
        pa.field("key", KEY),
        pa.field("count", pa.int64()),
        *_DOCUMENT,
    ]
)

# What is used too often, a row for each partition that uses it: how often in all, and by which document first.
OVERUSED = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("rule", pa.string()),
        pa.field("key", KEY),
        pa.field("count", pa.int64()),
        pa.field("of_doc", DOC),
    ]
)


def without_bucket(schema: pa.Schema) -> pa.Schema:
    """The schema of rows after a shuffle by bucket, which removes that column."""
    return pa.schema([field for field in schema if field.name != "bucket"])


def bucket_of(key: bytes, buckets: int) -> int:
    """The bucket of a key whose last eight bytes are evenly spread."""
    return int.from_bytes(key[-8:], "little") % buckets


def members_of(edges: pa.Table) -> pa.Table:
    """Both ends of edges to groups' firsts, as rows of MEMBERS: a first gets a row too, with itself as its first."""
    child = edges.select(["partition", "rule", "row", "doc", "of_doc"]).rename_columns(MEMBERS.names)
    first = edges.select(["of_partition", "rule", "of_row", "of_doc", "of_doc"]).rename_columns(MEMBERS.names)
    both = pa.concat_tables([child, first]).cast(MEMBERS)
    return both.group_by(MEMBERS.names).aggregate([]).sort_by([(name, "ascending") for name in MEMBERS.names])


def whole(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    """Tables of one kind as one, with the types of `schema`: a shuffle may have widened them."""
    return pa.concat_tables([schema.empty_table(), *(table.select(schema.names).cast(schema) for table in tables)])


def order_key() -> list[tuple[str, str]]:
    """`ORDER`, as Arrow's `sort_by` wants it."""
    return [(name, "ascending") for name in ORDER]
