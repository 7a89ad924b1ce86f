"""A unit is either whole or not there."""

import json
from pathlib import Path

import pytest

from obelics_pipeline.core.commit import (
    Attempt,
    committed,
    disown,
    manifest_path,
    names_by_label,
    note,
    note_of,
    read_manifest,
    recall,
    remember,
    sweep,
    sweep_temporary,
)
from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.core.unit import Unit, digest

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


@pytest.mark.parametrize(("old", "new"), [(b'"kept": 1', b'"kept": 3'), (b'"note": 1', b'"note": 0')])
def test_a_manifest_in_which_a_count_changed_commits_nothing(tmp_path: Path, old: bytes, new: bytes) -> None:
    commit(tmp_path, b"abc")
    path = manifest_path(tmp_path, UNIT.name)
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))
    assert read_manifest(tmp_path, UNIT.name) is None
    with pytest.raises(Damaged):
        committed(tmp_path, UNIT.name)


def test_a_manifest_of_an_earlier_version_has_no_seal_and_stands(tmp_path: Path) -> None:
    commit(tmp_path, b"abc")
    path = manifest_path(tmp_path, UNIT.name)
    value = json.loads(path.read_bytes())
    del value["seal"]
    path.write_text(json.dumps(value))
    assert read_manifest(tmp_path, UNIT.name) is not None


@pytest.mark.parametrize("role", ["data", "more"])
def test_a_unit_of_which_a_file_is_disowned_is_not_committed(tmp_path: Path, role: str) -> None:
    with Attempt(tmp_path, UNIT) as attempt:
        for name in ("data", "more"):
            attempt.file(name, ".parquet").write_bytes(b"abc")
        manifest = attempt.commit([])
    disown(manifest.path(tmp_path, role))
    assert read_manifest(tmp_path, UNIT.name) is None
    assert manifest.path(tmp_path, "more" if role == "data" else "data").exists()


def test_a_shuffle_of_which_a_piece_is_disowned_is_done_again(tmp_path: Path) -> None:
    piece = tmp_path / "0123456789abcdef" / "bucket=3.data-0123456789ab.parquet"
    note(note_of(piece), {"3": 1})
    assert note_of(piece) == tmp_path / "0123456789abcdef.json"
    disown(piece)
    assert not note_of(piece).exists()


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


@pytest.mark.parametrize("value", [{"a": [1, 2.5]}, [1, None], 3])
def test_a_note_that_changed_is_made_again(tmp_path: Path, value: object) -> None:
    path = tmp_path / "plan.json"
    assert remember(path, lambda: value) == recall(path) == value
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert remember(path, lambda: value) == value
        assert recall(path) == value


def test_names_are_those_of_committed_units_by_label(tmp_path: Path) -> None:
    assert names_by_label(tmp_path) == {}
    for unit in (Unit("s", "b", "one"), Unit("s", "a", "one"), Unit("s", "a", "one-more"), Unit("s", "c", "")):
        with Attempt(tmp_path, unit) as attempt:
            attempt.commit([])
    assert names_by_label(tmp_path) == {"one": ["one-a", "one-b"], "one-more": ["one-more-a"], "": ["c"]}


def test_a_note_of_an_earlier_version_is_its_value_alone(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('[{"a": 1}]')
    assert recall(tmp_path / "plan.json") == [{"a": 1}]


def test_manifests_of_equal_attempts_are_equal_bytes(tmp_path: Path) -> None:
    commit(tmp_path / "one", b"abc")
    commit(tmp_path / "two", b"abc")
    one, two = (manifest_path(tmp_path / name, UNIT.name).read_bytes() for name in ("one", "two"))
    assert one == two
    assert json.loads(one)["unit"] == UNIT.name


def test_a_digest_depends_on_values_not_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1}) != digest({"a": 1, "b": [3]})
