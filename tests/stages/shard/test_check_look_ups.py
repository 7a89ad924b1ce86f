"""Look-ups are held to the index, and repeated ids are found in little memory, with look-ups and without."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.shards.look_up import FOLDER, SCHEMA, facts_of, read_look_up, write_look_up
from obelics_pipeline.core.shards.manifest import LookUpPart, read_manifest, write_manifest
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.stages.shard import check_look_ups
from obelics_pipeline.stages.shard.check_look_ups import repeated_ids
from obelics_pipeline.stages.shard.validate import problems
from tests.stages.shard.runs import add_look_ups, document, make_run

DOCUMENTS = [document(number, None) for number in range(7)]


@pytest.fixture(scope="module", params=[1, 3])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checked") / "run"
    make_run(folder, DOCUMENTS)
    add_look_ups(folder, request.param)
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def of_look_ups(run: Path) -> list[str]:
    found = problems(run)
    assert all("\n" not in line and line.startswith(FOLDER) for line in found), found
    return found


def test_look_ups_as_written_are_right_and_a_copy_may_leave_them_out(run: Path) -> None:
    assert of_look_ups(run) == []
    with ThreadPoolExecutor(2) as pool:
        assert problems(run, pool.map) == []
    shutil.rmtree(run / FOLDER)
    assert of_look_ups(run) == []


def test_a_bucket_that_is_gone_or_damaged_is_named(run: Path) -> None:
    part = read_manifest(run).look_up[-1]
    path = run / FOLDER / part.name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert of_look_ups(run) == [f"look-up/{part.name}: its sha256 is not the manifest's"]
    path.unlink()
    assert of_look_ups(run) == [f"look-up/{part.name}: its sha256 is not the manifest's"]


def rewritten(run: Path, number: int, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the rows of a bucket that has some, and let the manifest vouch for it."""
    manifest = read_manifest(run)
    parts = list(manifest.look_up)
    path = run / FOLDER / parts[number].name
    write_look_up(change(read_look_up(path)), path)
    facts = facts_of(parts[number].kind, path)
    parts[number] = LookUpPart(name=path.name, sha256=file_sha256(path), bytes=path.stat().st_size, **facts)
    write_manifest(run, replace(manifest, look_up=tuple(parts)))


def moved(rows: pa.Table) -> pa.Table:
    at = SCHEMA.get_field_index("offset")
    return rows.set_column(at, SCHEMA.field(at), pa.array([n + 512 for n in rows["offset"].to_pylist()]))


CHANGES: dict[str, Callable[[pa.Table], pa.Table]] = {
    "a row is missing": lambda rows: rows.slice(1),
    "a row is there twice": lambda rows: pa.concat_tables([rows, rows.slice(0, 1)]),
    "places are others": moved,
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("kind", ["url", "id"])
def test_rows_that_the_index_does_not_have_are_told_in_one_line(run: Path, what: str, kind: str) -> None:
    parts = read_manifest(run).look_up
    number = next(i for i, part in enumerate(parts) if part.kind == kind and part.rows)
    rewritten(run, number, CHANGES[what])
    assert of_look_ups(run) == [f"look-up: by {kind} it has other rows than the index"]


def test_rows_in_another_bucket_are_found(run: Path) -> None:
    parts = read_manifest(run).look_up
    if len(parts) == 2:
        pytest.skip("one bucket has all")
    first = read_look_up(run / FOLDER / parts[0].name)
    rewritten(run, 1, lambda rows: pa.concat_tables([rows, first.slice(0, 1)]))
    assert of_look_ups(run) == [f"look-up/{parts[1].name}: has rows of another bucket"]


def repeated(run: Path) -> Path:
    """A run in which two tars have the same documents."""
    make_run(run, [*DOCUMENTS[:3], *DOCUMENTS[:2]], per_shard=3)
    return run


@pytest.mark.parametrize("buckets", [0, 1, 4])
def test_an_id_in_two_tars_is_named_with_look_ups_and_without(tmp_path: Path, buckets: int) -> None:
    run = repeated(tmp_path / "run")
    if buckets:
        add_look_ups(run, buckets)
    ids = sorted(d.doc_id for d in DOCUMENTS[:2])
    assert problems(run) == [f"the index: document {doc_id} is in it 2 times" for doc_id in ids]


@pytest.mark.parametrize("at_once", [2**23, 1000])
def test_repeated_ids_are_found_range_by_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    ids = [f"{i:032x}" for i in range(20_000)]
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    pq.write_table(pa.table({"doc_id": [*ids, ids[7]]}), files[0])
    pq.write_table(pa.table({"doc_id": ids[7:9]}), files[1])
    monkeypatch.setattr(check_look_ups, "IDS_AT_ONCE", at_once)
    assert repeated_ids(files, 20_003, map) == [
        f"the index: document {ids[7]} is in it 3 times",
        f"the index: document {ids[8]} is in it 2 times",
    ]
