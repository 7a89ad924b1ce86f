"""A metered folder behaves as a store does, and counts what a store would be asked."""

from pathlib import Path

import pytest

from obelics_pipeline.core import storage
from obelics_pipeline.inspect.check.meter import Traffic, metered, so_far


def test_each_call_of_storage_is_one_request(tmp_path: Path) -> None:
    where = metered(tmp_path) / "run" / "a.json"
    before = so_far()
    storage.write_bytes(where, b"12345")
    assert so_far() - before == Traffic(puts=1, written=5)
    before = so_far()
    assert storage.read_bytes(where) == b"12345"
    assert so_far() - before == Traffic(gets=1, read=5)
    before = so_far()
    assert storage.size_of(where) == 5
    assert so_far() - before == Traffic(gets=1)
    before = so_far()
    assert storage.files_below(metered(tmp_path)) == {"run/a.json": 5}
    assert so_far() - before == Traffic(puts=1)


def test_a_conditional_put_is_won_by_the_first(tmp_path: Path) -> None:
    where = metered(tmp_path) / "a" / "b.json"
    assert storage.create(where, b"one")
    assert not storage.create(where, b"two")
    assert storage.read_bytes(where) == b"one"


def test_what_is_gone_is_said_as_on_a_disk(tmp_path: Path) -> None:
    where = metered(tmp_path) / "nothing"
    assert storage.size_of(where) is None
    before = so_far()
    with pytest.raises(FileNotFoundError):
        storage.read_bytes(where)
    assert so_far() - before == Traffic(gets=1, missed=1)
    assert storage.files_below(where) == {}
