"""The table of a large run's tars: read as it was written, and only what its name says."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.content_name import content_name, stated_hash
from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.index_name import is_shard_table
from obelics_pipeline.core.shards.shard_table import ShardEntry, read_shard_table, shard_table
from obelics_pipeline.core.storage import file_sha256

ENTRIES = [ShardEntry(f"shard-{i:06d}.tar", f"{i:064x}", 10 * i, i, 2 * i, 3 * i, 4 * i) for i in range(5)]


def written(folder: Path, shards: list[ShardEntry]) -> str:
    name, data = shard_table(shards)
    (folder / name).write_bytes(data)
    return name


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_table_is_read_as_it_was_written(tmp_path: Path, count: int) -> None:
    name = written(tmp_path, ENTRIES[:count])
    assert is_shard_table(name) and stated_hash(name) is not None
    assert list(read_shard_table(tmp_path, name)) == ENTRIES[:count]


def test_other_tars_have_a_table_of_another_name_and_the_same_ones_the_same_bytes() -> None:
    assert shard_table(ENTRIES) == shard_table(list(ENTRIES))
    assert shard_table(ENTRIES)[0] != shard_table(ENTRIES[::-1])[0]


def test_a_damaged_or_missing_table_is_told_of(tmp_path: Path) -> None:
    name = written(tmp_path, ENTRIES)
    content = bytearray((tmp_path / name).read_bytes())
    content[20] ^= 1
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Damaged, match=name):
        read_shard_table(tmp_path, name)
    (tmp_path / name).unlink()
    with pytest.raises(Damaged, match=name):
        read_shard_table(tmp_path, name)


@pytest.mark.parametrize("name", ["../shards-0123456789abcdef-0123456789ab.parquet", "index.parquet", "shards", ""])
def test_a_file_of_another_name_is_not_opened(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no name of a table of shards"):
        read_shard_table(tmp_path, name)


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"name": ["a.tar"]}), tmp_path / "other")
    name = content_name("shards-0123456789abcdef", file_sha256(tmp_path / "other"), ".parquet")
    (tmp_path / "other").rename(tmp_path / name)
    with pytest.raises(ValueError, match="has the columns"):
        read_shard_table(tmp_path, name)
