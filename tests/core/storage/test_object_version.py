"""A version of an object is replaced once: who comes later, with the version of before, is refused."""

import os
from pathlib import Path

import pytest
from upath import UPath

from obelics_pipeline.core.object_version import replace, version_of
from obelics_pipeline.core.storage import location, read_bytes, remove, write_bytes
from obelics_pipeline.inspect.check.meter import metered


def test_a_version_is_replaced_once(bucket: UPath) -> None:
    where = bucket / "run" / "manifest.json"
    assert version_of(where) is None
    first = replace(where, b"first", None)
    assert first == version_of(where) is not None
    second = replace(where, b"second", first)
    assert second == version_of(where) != first
    assert replace(where, b"late", first) is None
    assert read_bytes(where) == b"second"


def test_only_one_creates(bucket: UPath) -> None:
    assert replace(bucket / "new", b"first", None) is not None
    assert replace(bucket / "new", b"late", None) is None
    assert read_bytes(bucket / "new") == b"first"


def test_what_is_gone_is_not_replaced(bucket: UPath) -> None:
    write_bytes(bucket / "gone", b"first")
    version = version_of(bucket / "gone")
    remove([bucket / "gone"])
    assert replace(bucket / "gone", b"late", version) is None
    assert version_of(bucket / "gone") is None


@pytest.mark.parametrize("size", [1, 3 * 2**20 + 1])
def test_a_local_file_is_put_as_it_is(bucket: UPath, tmp_path: Path, size: int) -> None:
    (tmp_path / "index").write_bytes(content := os.urandom(size))
    where = bucket / "index.parquet"
    version = replace(where, tmp_path / "index", None)
    assert read_bytes(where) == content
    assert replace(where, tmp_path / "index", "1") is None
    assert replace(where, tmp_path / "index", version) == version_of(where)


def test_a_bucket_that_is_not_there_is_an_error_and_no_refusal(s3: str) -> None:
    where = location("s3://no-such-bucket-anywhere/x")
    assert isinstance(where, UPath)
    with pytest.raises(OSError, match="bucket does not exist"):
        replace(where, b"", None)


def test_a_store_whose_conditions_are_unknown_is_an_error(tmp_path: Path) -> None:
    where = metered(tmp_path) / "x"
    assert isinstance(where, UPath)
    with pytest.raises(OSError, match="no conditional put"):
        replace(where, b"", None)
