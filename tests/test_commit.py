"""A unit is either whole or not there."""

import json
from pathlib import Path

import pytest

from obelics_pipeline.commit import (
    Attempt,
    manifest_path,
    read_manifest,
    remember,
    sweep,
    sweep_temporary,
)
from obelics_pipeline.ledger import Ledger
from obelics_pipeline.storage import write_bytes
from obelics_pipeline.unit import Unit, digest

UNIT = Unit("extract", "0123456789abcdef", "crawl-000")


def commit(folder: Path, data: bytes, unit: Unit = UNIT) -> None:
    with Attempt(folder, unit) as attempt:
        attempt.file("data", ".bin").write_bytes(data)
        attempt.commit([Ledger("records", 1, 1)], {"note": 1})


def test_a_committed_unit_reads_back(tmp_path: Path) -> None:
    commit(tmp_path, b"abc")
    manifest = read_manifest(tmp_path, UNIT.name)
    assert manifest is not None
    assert manifest.path(tmp_path, "data").read_bytes() == b"abc"
    assert (manifest.ledgers["records"].kept, manifest.notes) == (1, {"note": 1})


def test_an_attempt_that_raises_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Attempt(tmp_path, UNIT) as attempt:
        attempt.file("data", ".bin").write_bytes(b"half")
        raise RuntimeError
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_a_ledger_that_does_not_balance_is_never_committed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not balance"), Attempt(tmp_path, UNIT) as attempt:
        attempt.file("data", ".bin").write_bytes(b"x")
        attempt.commit([Ledger("records", 2, 1)])
    assert read_manifest(tmp_path, UNIT.name) is None


def test_the_first_of_two_attempts_stands(tmp_path: Path) -> None:
    commit(tmp_path, b"first")
    commit(tmp_path, b"second")
    manifest = read_manifest(tmp_path, UNIT.name)
    assert manifest is not None
    assert manifest.path(tmp_path, "data").read_bytes() == b"first"


def test_a_unit_whose_file_is_gone_or_cut_is_not_committed(tmp_path: Path) -> None:
    commit(tmp_path, b"abc")
    manifest = read_manifest(tmp_path, UNIT.name)
    assert manifest is not None
    manifest.path(tmp_path, "data").write_bytes(b"ab")
    assert read_manifest(tmp_path, UNIT.name) is None
    manifest.path(tmp_path, "data").unlink()
    assert read_manifest(tmp_path, UNIT.name) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"unit": 1}', "\0"])
def test_a_damaged_manifest_is_none_and_is_replaced(tmp_path: Path, text: str) -> None:
    path = manifest_path(tmp_path, UNIT.name)
    path.parent.mkdir()
    path.write_text(text)
    assert read_manifest(tmp_path, UNIT.name) is None
    commit(tmp_path, b"abc")
    assert read_manifest(tmp_path, UNIT.name) is not None


def test_sweep_removes_what_no_wanted_manifest_names(tmp_path: Path) -> None:
    other = Unit("extract", "f" * 16, "crawl-001")
    commit(tmp_path, b"abc")
    commit(tmp_path, b"def", other)
    wanted = read_manifest(tmp_path, UNIT.name)
    assert wanted is not None
    assert sweep(tmp_path, [wanted]) == 2
    assert read_manifest(tmp_path, UNIT.name) is not None
    assert read_manifest(tmp_path, other.name) is None


def test_what_a_kill_left_half_written_is_swept(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / ".tmp-0123.parquet").write_bytes(b"half")
    (tmp_path / ".tmp-dealt" / "00000" / ".tmp-0123").mkdir(parents=True)
    (tmp_path / ".tmp-dealt" / "00000" / "rows.parquet").write_bytes(b"of a shuffle")
    (tmp_path / "kept").write_bytes(b"whole")
    sweep_temporary(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep", "kept"]
    assert not list((tmp_path / "deep").iterdir())


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a" / "b.json", b"1")
    write_bytes(tmp_path / "a" / "b.json", b"22")
    assert [p.read_bytes() for p in (tmp_path / "a").iterdir()] == [b"22"]


def test_a_plan_is_made_once(tmp_path: Path) -> None:
    made: list[int] = []
    for _ in range(2):
        value = remember(tmp_path / "plan.json", lambda: made.append(1) or {"a": 1})
        assert value == {"a": 1}
    assert made == [1]


def test_manifests_of_equal_attempts_are_equal_bytes(tmp_path: Path) -> None:
    commit(tmp_path / "one", b"abc")
    commit(tmp_path / "two", b"abc")
    one, two = (manifest_path(tmp_path / name, UNIT.name).read_bytes() for name in ("one", "two"))
    assert one == two
    assert json.loads(one)["unit"] == UNIT.name


def test_a_digest_depends_on_values_not_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1}) != digest({"a": 1, "b": [3]})
