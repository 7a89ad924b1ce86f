"""How long documents are for a tokenizer: counted once for each shard, and kept in a folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.storage import Location, draft
from obelics_pipeline.engines.pool import Died, Pool, Raised
from obelics_pipeline.models.packed_flamingo.document_tokens import Vocabulary, document_tokens
from obelics_pipeline.training.plan.records import Where, read_records
from obelics_pipeline.training.plan.tokenizer import Tokenizer, ids_crc32, open_tokenizer

TASK_SECONDS = 24 * 3600.0
PRELOAD = ("transformers",)

COUNTS = pa.schema(
    [
        ("n_tokens", pa.int32()),
        ("marks", pa.list_(pa.int32())),  # places of the image marks among the tokens
        ("ids_crc32", pa.uint32()),
        ("n_target_bytes", pa.int32()),
        ("content", pa.binary(16)),  # see content_of
    ]
)


@dataclass(frozen=True)
class ShardTask:
    """The documents of a shard, and where their counts are kept; the name of that file says of what they are."""

    shard: Location
    documents: Sequence[Where]
    kept: Path


def kept_name(shard_sha256: str, rows: Sequence[str]) -> str:
    """A name for the counts of a shard: another one where a byte of it, or a row of its index, differs."""
    return hashlib.sha256("\n".join((shard_sha256, *rows)).encode()).hexdigest()[:40] + ".parquet"


def count_all(tokenizer: Tokenizer, tasks: Sequence[ShardTask], workers: int, say: Callable[[str], None]) -> None:
    """Count what is not counted yet. Raises Stopped where a worker dies: the same command goes on then."""
    left = [task for task in tasks if not _is_kept(task)]
    if not left:
        return
    n = sum(len(task.documents) for task in left)
    say(f"counting the tokens of {n:,} documents in {len(left):,} shards")
    if min(workers, len(left)) == 1:
        for task in left:
            count_shard(task, tokenizer.vocabulary)
        return
    pool: Pool[ShardTask, None] = Pool(min(workers, len(left)), _open, (tokenizer.path, tokenizer.sha256), PRELOAD)
    with pool:
        for task, outcome in pool.each(_count, deque(left), TASK_SECONDS):
            if isinstance(outcome, Raised):
                raise outcome.error
            if isinstance(outcome, Died):
                raise Stopped(
                    f"{task.shard}: the worker that counted its tokens {outcome.how} (out of memory?); run the same "
                    "command again, with fewer --workers: what was counted is kept"
                )


_OPENED: list[Vocabulary] = []  # of a worker process


def _open(folder: str, sha256: str) -> None:  # pragma: no cover - runs in the workers
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tokenizer = open_tokenizer(Path(folder))
    if tokenizer.sha256 != sha256:
        raise Stopped(f"{folder}: the tokenizer changed while its tokens were counted; run the same command again")
    _OPENED[:] = [tokenizer.vocabulary]


def _count(task: ShardTask) -> None:  # pragma: no cover - runs in the workers
    count_shard(task, _OPENED[0])


def count_shard(task: ShardTask, vocabulary: Vocabulary) -> None:
    """Lay out every document of a shard and keep what was counted."""
    rows = [counts_of(record, vocabulary) for record in read_records(task.shard, task.documents)]
    with draft(task.kept) as path:
        pq.write_table(
            pa.Table.from_pylist(rows, COUNTS), path, compression="zstd", write_page_checksum=True
        )  # fmt: skip


def counts_of(record: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, Any]:
    """A row of counts."""
    tokens = document_tokens(record, vocabulary)
    return {
        "n_tokens": len(tokens.ids),
        "marks": np.flatnonzero(tokens.ids == vocabulary.image).astype(np.int32),
        "ids_crc32": ids_crc32(tokens),
        "n_target_bytes": tokens.n_bytes,
        "content": content_of(record),
    }


def content_of(record: Mapping[str, Any]) -> bytes:
    """What makes two documents copies of each other: their texts and the addresses of their images, in order.

    The hash in the index is of other use: the document's id, which is never the same twice, is in it.
    """
    return hashlib.sha256(json.dumps([record["texts"], record["images"]]).encode()).digest()[:16]


def read_counts(tasks: Sequence[ShardTask]) -> Iterator[pa.Table]:
    """The counts of each task, in its order of documents."""
    for task in tasks:
        yield pq.read_table(task.kept, schema=COUNTS, page_checksum_verification=True)


def _is_kept(task: ShardTask) -> bool:
    """Whether counts are there, whole."""
    try:
        found = pq.read_table(task.kept, page_checksum_verification=True)
    except (OSError, pa.ArrowException):
        return False
    return bool(found.schema.equals(COUNTS)) and found.num_rows == len(task.documents)
