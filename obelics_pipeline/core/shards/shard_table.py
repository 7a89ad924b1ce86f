"""The tars of a large run as a table: JSON of two million of them would be 500 MB. It is named by its content."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.content_name import content_name
from obelics_pipeline.core.index_name import is_shard_table
from obelics_pipeline.core.storage import Location, read_table
from obelics_pipeline.core.unit import digest


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """One tar: its name within the folder `shards`, its hash, and what it holds."""

    name: str
    sha256: str
    bytes: int
    documents: int
    texts: int
    images: int  # image references
    files: int  # image files


SCHEMA = pa.schema([
    pa.field(name, pa.string() if name in ("name", "sha256") else pa.int64(), nullable=False)
    for name in ShardEntry.__annotations__
])  # fmt: skip


def shard_table(shards: Sequence[ShardEntry]) -> tuple[str, bytes]:
    """The name of the table of these tars, in their order, and its bytes."""
    columns = [pa.array([getattr(shard, field.name) for shard in shards], field.type) for field in SCHEMA]
    table = pa.Table.from_arrays(columns, schema=SCHEMA)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    stem = f"shards-{digest([shard.sha256 for shard in shards])}"
    return content_name(stem, hashlib.sha256(data).hexdigest(), ".parquet"), data


def read_shard_table(folder: Location, name: str) -> tuple[ShardEntry, ...]:
    """The tars of a table in a run's folder. Raises Damaged where it is not what its name says, or not there, and
    ValueError where it is no such table.
    """
    if not is_shard_table(name):
        raise ValueError(f"{name!a} is no name of a table of shards")
    table = read_table(folder / name)
    if table.schema.remove_metadata() != SCHEMA:
        raise ValueError(f"{name} has the columns {table.schema.names}")
    return tuple(ShardEntry(*row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True))
