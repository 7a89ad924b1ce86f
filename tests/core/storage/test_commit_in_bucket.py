"""A unit in a bucket is either whole or not there, whoever else tries it and whenever they stop."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from obelics_pipeline.core import commit as committing
from obelics_pipeline.core.commit import (
    Attempt,
    Manifest,
    committed,
    manifest_path,
    read_manifest,
    read_manifests,
    recall,
    remember,
    sweep,
    unit_names,
)
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import files_below, read_bytes, remove, write_bytes
from obelics_pipeline.core.unit import Unit

UNIT = Unit("extract", "0123456789abcdef", "crawl-000")


def commit(folder: UPath | Path, data: bytes, unit: Unit = UNIT, name: str | None = None) -> Manifest:
    with Attempt(folder, unit) as attempt:
        attempt.file("data", ".bin", name).write_bytes(data)
        attempt.file("records", ".bin").write_bytes(data + b"!")
        return attempt.commit([Ledger("records", 1, 1)], {"note": 1})


def test_a_unit_in_a_bucket_is_the_unit_on_disk(bucket: UPath, tmp_path: Path) -> None:
    commit(bucket / "extract", b"abc")
    commit(tmp_path, b"abc")
    assert files_below(bucket / "extract") == files_below(tmp_path)
    for name in files_below(tmp_path):
        assert read_bytes(bucket / "extract" / name) == (tmp_path / name).read_bytes()


def test_the_second_writer_of_a_manifest_loses(bucket: UPath) -> None:
    with ThreadPoolExecutor(4) as threads:
        manifests = list(threads.map(lambda i: commit(bucket / "extract", b"%d" % i), range(4)))
    first = committed(bucket / "extract", UNIT.name)
    assert all(manifest == first for manifest in manifests)
    assert (
        read_bytes(first.path(bucket / "extract", "records"))
        == read_bytes(first.path(bucket / "extract", "data")) + b"!"
    )
    assert sweep(bucket / "extract", [first]) == 6
    assert len(files_below(bucket / "extract")) == 3


def test_an_attempt_that_raises_leaves_nothing(bucket: UPath) -> None:
    with pytest.raises(RuntimeError), Attempt(bucket / "extract", UNIT) as attempt:
        attempt.file("data", ".bin").write_bytes(b"half")
        raise RuntimeError
    assert files_below(bucket) == {}


@pytest.mark.parametrize("puts", [0, 1, 2])
def test_an_attempt_that_ends_between_its_puts_commits_nothing_and_the_next_one_does(
    bucket: UPath, monkeypatch: pytest.MonkeyPatch, puts: int
) -> None:
    def dying(call: Callable[..., object]) -> Callable[..., object]:
        def put(*arguments: object) -> object:
            nonlocal left
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
            return call(*arguments)

        return put

    left = puts
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(committing, "put_once", dying(committing.put_once))
        patched.setattr(committing, "create", dying(committing.create))
        commit(bucket / "extract", b"abc", name="shard-000000.tar")
    assert read_manifest(bucket / "extract", UNIT.name) is None
    assert len(files_below(bucket / "extract")) == puts
    assert commit(bucket / "extract", b"abc", name="shard-000000.tar").files["data"]["name"] == "shard-000000.tar"
    assert len(files_below(bucket / "extract")) == 3


def test_a_unit_whose_object_is_gone_or_of_another_size_is_not_committed(bucket: UPath) -> None:
    manifest = commit(bucket / "extract", b"abc")
    data = manifest.path(bucket / "extract", "data")
    write_bytes(data, b"ab")
    assert read_manifest(bucket / "extract", UNIT.name) is None
    remove([data])
    assert read_manifest(bucket / "extract", UNIT.name) is None
    assert read_manifests(bucket / "extract", [UNIT.name]) == {}
    assert commit(bucket / "extract", b"abc") == manifest


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"unit": 1}', b"\0", b"\xff"])
def test_a_damaged_manifest_is_none_and_is_replaced(bucket: UPath, text: bytes) -> None:
    write_bytes(manifest_path(bucket, UNIT.name), text)
    assert read_manifest(bucket, UNIT.name) is None
    commit(bucket, b"abc")
    assert read_manifest(bucket, UNIT.name) is not None


@pytest.mark.parametrize("few", [0, 16])
def test_many_manifests_are_read_as_one_is(bucket: UPath, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(committing, "FEW", few)
    units = [Unit("extract", f"{i:016x}", f"crawl-[{i % 2}]") for i in range(6)]
    for unit in units[:5]:
        commit(bucket, unit.id.encode(), unit)
    write_bytes(manifest_path(bucket, units[3].name), b"{")
    remove([committed(bucket, units[4].name).path(bucket, "records")])
    names = [unit.name for unit in units]
    one_by_one = {name: m for name in names if (m := read_manifest(bucket, name)) is not None}
    assert list(one_by_one) == names[:3]
    assert read_manifests(bucket, names) == one_by_one
    assert unit_names(bucket, "crawl-[1]") == [units[1].name, units[3].name]


def test_what_is_no_file_of_a_unit_is_not_listed(bucket: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committing, "FEW", 0)
    write_bytes(bucket / "images" / "ab" / "abcd", b"x")
    commit(bucket, b"abc")
    listed = list[str]()
    ask = bucket.fs.ls

    def ls(path: str, *given: Any, **named: Any) -> Any:
        listed.append(path)
        return ask(path, *given, **named)

    monkeypatch.setattr(bucket.fs, "ls", ls)
    monkeypatch.setattr(bucket.fs, "find", None)
    assert list(read_manifests(bucket, [UNIT.name])) == [UNIT.name]
    assert listed
    assert not any("images" in path for path in listed)


def test_a_plan_is_made_once(bucket: UPath) -> None:
    made: list[int] = []
    for _ in range(2):
        assert remember(bucket / "plan.json", lambda: made.append(1) or {"a": 1}) == {"a": 1}
    assert made == [1]
    assert recall(bucket / "plan.json") == {"a": 1}
