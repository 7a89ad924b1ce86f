"""What image URLs are asked for: rows of (bucket, partition, url), dealt out by bucket and named by what they ask."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config import FetchingConfig
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.core.storage import Location, open_parquet, read_tables
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.groups import DATA
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.engines.shuffle import ShuffleInput, shuffle
from obelics_pipeline.stages.fetch.carried import asked_and_urls, bucket_of, is_carried
from obelics_pipeline.stages.fetch.host import host_bucket

REQUESTS = pa.schema([("bucket", pa.int32()), ("partition", pa.string()), ("url", pa.string())])
ASKED = pa.schema([("partition", pa.large_string()), ("url", pa.large_string())])  # of a bucket: more than 2 GB, too
LINES = 1_000_000  # requests that are hashed at a time


def request_units(
    documents: Sequence[Manifest], config: FetchingConfig, rules: Any, everything: bool = False
) -> list[Unit]:
    """One unit per unit of documents: which image URLs its kept documents ask for. `rules` is what decides on a URL.

    With `everything` dropped documents ask as well.
    """
    settings = [config.buckets, rules, *(["everything"] if everything else [])]
    return [
        Unit(
            "requests",
            digest(m.unit, m.files["data"]["sha256"], *settings),
            "",
            {"documents": m.unit, "everything": everything},
        )
        for m in documents
    ]


def request_unit(
    unit: Unit,
    *,
    folder: Location,
    document_folder: Location,
    buckets: int,
    url_reason: Callable[[str], str | None],
    carried: bool = False,
) -> Manifest:
    """Write the distinct (bucket, partition, url) of one unit of documents; what a rule refuses is not asked.

    With `carried` images may have come with their rows: those have no host, and are asked for by their bytes' sha256.
    """
    documents = committed(document_folder, unit.payload["documents"])
    path, everything = documents.path(document_folder, "data"), unit.payload["everything"]
    images = asked_and_urls(path, everything) if carried else ((url, url) for url in kept_images(path, everything))
    urls = sorted({key for key, url in images if url_reason(url) is None})
    here = bucket_of(documents.unit, buckets)
    dealt = [here if is_carried(url) else host_bucket(url, buckets) for url in urls]
    columns = [dealt, [documents.unit] * len(urls), urls]
    with Attempt(folder, unit) as attempt:
        pq.write_table(pa.Table.from_arrays(columns, schema=REQUESTS), attempt.file("data", ".parquet"))
        return attempt.commit([], {"rows": {"data": len(urls)}})


def kept_images(path: Location, everything: bool = False) -> Iterator[str]:
    """The image URLs of kept documents, or of all, read from their two columns alone."""
    with open_parquet(path) as source:
        for group in range(source.num_row_groups):
            table = source.read_row_group(group, columns=["reason", "images"])
            for reason, images in zip(table["reason"].to_pylist(), table["images"].to_pylist(), strict=True):
                if reason is None or everything:
                    yield from (url for url in images if url is not None)


def deal_requests(runner: StageRunner, folder: Location, sources: Sequence[ShuffleInput]) -> Partitions:
    """Requests by bucket, with their distinct URLs counted.

    The digest of a bucket is `asked_sha256` of its rows: the worker that has them tells it.
    """
    dealt = shuffle(runner, folder, sources, "bucket", named_bucket, "requests")
    files = {bucket: [group.pieces[DATA].name] for bucket, group in dealt.groups.items()}
    asked, urls = ({bucket: g.notes[name] for bucket, g in dealt.groups.items()} for name in ("asked", "urls"))
    return Partitions(dealt.folder, files, asked, urls)


def named_bucket(rows: pa.Table, _bucket: str) -> ReduceOutput:
    """The requests of a bucket as they are, the sha256 of what they ask for, and for how many URLs."""
    return ReduceOutput({DATA: rows}, {"asked": asked_sha256(rows), "urls": pc.count_distinct(rows["url"]).as_py()})


def asked_sha256(rows: pa.Table) -> str:
    """sha256 of the lines `partition url` of the rows in order, with a line feed between two."""
    sha256, rows = hashlib.sha256(), _in_order(rows)
    feed, blank, nothing = (pa.scalar(text, pa.large_string()) for text in ("\n", " ", ""))
    for start in range(0, rows.num_rows, LINES):
        columns = [rows[name].slice(start, LINES).combine_chunks() for name in ASKED.names]
        lines = pc.binary_join_element_wise(feed, columns[0], blank, columns[1], nothing)
        _, ends, text = lines.buffers()
        size = int(np.frombuffer(ends, np.int64)[len(lines)])
        sha256.update(memoryview(text)[0 if start else 1 : size])
    return sha256.hexdigest()


def request_rows(paths: Sequence[Location]) -> list[tuple[str, str]]:
    """(partition, url) of a bucket, in order."""
    tables = [table.select(ASKED.names).cast(ASKED) for table in read_tables(paths, ASKED.names)]
    table = _in_order(pa.concat_tables(tables))
    return list(zip(table["partition"].to_pylist(), table["url"].to_pylist(), strict=True))


def _in_order(rows: pa.Table) -> pa.Table:
    """Sorted: Arrow compares the bytes of UTF-8, which stand in the order of characters."""
    return rows.select(ASKED.names).cast(ASKED).sort_by([(name, "ascending") for name in ASKED.names])
