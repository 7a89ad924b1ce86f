"""Which documents go into which Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from obelics_pipeline.core.shards.shard_table import ShardEntry

# Bytes of a file: 300 to 500 MB, as the hub advises (huggingface.co/docs/hub/repositories-recommendations)
TARGET_BYTES = 400_000_000


@dataclass(frozen=True)
class Part:
    """One Parquet file: its name, and the rows `start` to `stop` (exclusive) of the run's index."""

    name: str
    start: int
    stop: int


def parts_of(shards: Sequence[ShardEntry], target_bytes: int = TARGET_BYTES) -> list[Part]:
    """Files of about equal bytes that hold all documents in their order; one without rows where there are none.

    Within a tar, documents are taken to be of its mean size: no index is read for this.
    """
    count = max(1, round(sum(shard.bytes for shard in shards) / target_bytes))
    cuts = sorted({0, *_cuts(shards, count), sum(shard.documents for shard in shards)})
    spans = list(pairwise(cuts)) or [(0, 0)]
    return [Part(part_name(i, len(spans)), start, stop) for i, (start, stop) in enumerate(spans)]


def part_name(number: int, count: int) -> str:
    """The name that loaders of the hub read as a split: huggingface.co/docs/hub/datasets-file-names-and-splits."""
    return f"train-{number:05d}-of-{count:05d}.parquet"


def _cuts(shards: Sequence[ShardEntry], count: int) -> Iterator[int]:
    """The first documents of the parts from the second on."""
    total = sum(shard.bytes for shard in shards)
    before_bytes = before_documents = 0
    number = 1
    for shard in shards:
        while number < count and (at := total * number // count) < before_bytes + shard.bytes:
            yield before_documents + shard.documents * (at - before_bytes) // shard.bytes
            number += 1
        before_bytes, before_documents = before_bytes + shard.bytes, before_documents + shard.documents
