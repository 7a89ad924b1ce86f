"""A location is a location: what a disk promises, a bucket promises, and nothing is ever half there."""

import multiprocessing
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import forkserver
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from upath import UPath

from obelics_pipeline.core import storage
from obelics_pipeline.core.content_name import content_name
from obelics_pipeline.core.errors import Damaged, Stopped, UserError
from obelics_pipeline.core.ranged import Ranged
from obelics_pipeline.core.storage import (
    Location,
    create,
    draft,
    file_sha256,
    files_below,
    hold_to_name,
    local_copy,
    location,
    names_in,
    open_parquet,
    put_once,
    read_bytes,
    read_many,
    read_schema,
    read_table,
    remove,
    remove_tree,
    scratch_of,
    size_of,
    sweep_scratch,
    write_bytes,
    write_table,
)
from tests.core.storage.conftest import bucket_of


@pytest.fixture(params=["disk", "s3", pytest.param("gs", marks=pytest.mark.slow)])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    return tmp_path / "run" if request.param == "disk" else bucket_of(request, request.param) / "run"


def test_a_file_that_is_named_by_its_content_is_held_to_it(folder: Location, tmp_path: Path) -> None:
    draft_of = tmp_path / "draft"
    pq.write_table(pa.table({"a": [1, 2, 3]}), draft_of, compression="none")
    data = draft_of.read_bytes()
    where = folder / content_name("unit-0123456789abcdef", file_sha256(draft_of), ".parquet")
    write_bytes(where, data)
    hold_to_name(where)
    assert read_table(where)["a"].to_pylist() == [1, 2, 3]
    at = data.index((2).to_bytes(8, "little"))
    write_bytes(where, data[:at] + b"\x07" + data[at + 1 :])
    for read in (hold_to_name, read_table, read_schema):
        with pytest.raises(Damaged, match=where.name):
            read(where)
    remove([where])
    for read in (hold_to_name, read_table, read_schema):
        with pytest.raises(Damaged, match=where.name):
            read(where)


def test_a_large_file_is_held_to_its_name_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "WHOLE", 100)
    pq.write_table(pa.table({"a": list(range(1000))}), tmp_path / "draft")
    where = tmp_path / content_name("0123456789abcdef", file_sha256(tmp_path / "draft"), ".parquet")
    (tmp_path / "draft").rename(where)
    assert read_table(where).num_rows == 1000
    where.write_bytes(bytes(where.stat().st_size))
    with pytest.raises(Damaged):
        read_table(where)


def drafts() -> list[str]:
    """What of this process lies about in this user's folder for temporary files."""
    mine = f"{storage.TEMPORARY}{socket.gethostname()}-{os.getpid()}-*"
    return [path.name for path in scratch_of(location("s3://x")).parents[1].glob(mine)]


def test_what_is_written_is_read(folder: Location) -> None:
    assert size_of(folder / "a") is None
    write_bytes(folder / "deep" / "a", b"one")
    write_bytes(folder / "deep" / "a", b"three")
    assert (read_bytes(folder / "deep" / "a"), size_of(folder / "deep" / "a")) == (b"three", 5)
    with draft(folder / "b.bin") as path:
        path.write_bytes(b"drafted")
    assert files_below(folder) == {"b.bin": 7, "deep/a": 5}
    assert names_in(folder) == ["b.bin"]
    with pytest.raises(FileNotFoundError):
        read_bytes(folder / "c")


def test_a_writer_that_raises_leaves_nothing(folder: Location) -> None:
    before = drafts()
    with pytest.raises(ZeroDivisionError), draft(folder / "table.parquet") as path:
        path.write_bytes(b"half of it")
        raise ZeroDivisionError
    assert files_below(folder) == {}
    assert drafts() == before


def test_of_many_who_create_the_same_one_is_first(folder: Location) -> None:
    with ThreadPoolExecutor(8) as threads:
        first = list(threads.map(lambda i: create(folder / "manifest.json", b"%d" % i), range(8)))
    assert first.count(True) == 1
    assert read_bytes(folder / "manifest.json") == b"%d" % first.index(True)
    assert files_below(folder) == {"manifest.json": 1}


def test_a_name_is_put_once_and_again_with_the_same_content_only(bucket: UPath, tmp_path: Path) -> None:
    target = bucket / "shard-000000.tar"
    for content in (b"a tar", b"a tar"):
        (tmp_path / "draft").write_bytes(content)
        put_once(tmp_path / "draft", target, file_sha256(tmp_path / "draft"))
        assert not (tmp_path / "draft").exists()
    (tmp_path / "draft").write_bytes(b"b tar")
    with pytest.raises(Stopped, match="is there already, with other content"):
        put_once(tmp_path / "draft", target, file_sha256(tmp_path / "draft"))
    assert read_bytes(target) == b"a tar"


def test_names_that_look_like_patterns_are_names(folder: Location) -> None:
    names = ["a[1].json", "a1.json", "b*.json", "bc.json", "d?.json", "de.json", "é ü.json"]
    for name in names:
        write_bytes(folder / name, name.encode())
    assert names_in(folder) == sorted(names)
    assert names_in(folder, "a[1]") == ["a[1].json"]
    assert list(read_many([folder / name for name in [*names, "none"]])) == [*(name.encode() for name in names), None]
    remove([folder / "a[1].json", folder / "b*.json", folder / "d?.json", folder / "was never there"])
    assert names_in(folder) == ["a1.json", "bc.json", "de.json", "é ü.json"]
    remove_tree(folder)
    remove_tree(folder)
    assert files_below(folder) == {}


def test_a_listing_is_of_the_folder_and_not_of_its_neighbours(folder: Location) -> None:
    for name in ("extract/a", "extract-2/b", "extract/manifests/c.json", "extract"[:3]):
        write_bytes(folder / name, b"x")
    assert files_below(folder / "extract") == {"a": 1, "manifests/c.json": 1}
    assert names_in(folder / "extract") == ["a"]
    assert names_in(folder / "extract" / "manifests", "c") == ["c.json"]


def test_what_others_wrote_is_seen_at_once(bucket: UPath) -> None:
    write_bytes(bucket / "run" / "old", b"")
    assert (files_below(bucket / "run"), read_bytes(bucket / "run" / "old")) == ({"old": 0}, b"")
    assert not (bucket / "run" / "new").exists()
    other = fsspec.filesystem(bucket.protocol, skip_instance_cache=True)  # as in another process
    other.pipe_file((bucket / "run" / "new").path, b"x")
    assert (bucket / "run" / "new").exists()
    assert files_below(bucket / "run") == {"new": 1, "old": 0}


def test_a_table_is_read_back_whole_or_in_part(folder: Location) -> None:
    table = pa.table({"n": list(range(1000)), "text": [f"row {i}" for i in range(1000)]})
    write_table(table, folder / "bucket=3" / "t.parquet")
    where = folder / "bucket=3" / "t.parquet"
    assert read_table(where).equals(table)
    assert read_table(where, ["n"]).column_names == ["n"]
    assert read_table(where, ["n"], [("text", "==", "row 7")])["n"].to_pylist() == [7]
    assert read_schema(where).equals(table.schema)


def test_a_large_table_is_read_by_few_requests_of_what_is_needed(
    bucket: UPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = np.random.default_rng(1).random((4, 400_000))
    table = pa.table({f"c{i}": column for i, column in enumerate(noise)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=200_000, use_dictionary=False)
    write_bytes(bucket / "t.parquet", (tmp_path / "t.parquet").read_bytes())
    monkeypatch.setattr(storage, "WHOLE", 2**20)
    asked: list[int] = []
    read = Ranged.read

    def counted(self: Ranged, size: int = -1) -> bytes:
        data = read(self, size)
        asked.append(len(data))
        return data

    monkeypatch.setattr(Ranged, "read", counted)
    with open_parquet(bucket / "t.parquet") as source:
        group = source.read_row_group(1, columns=["c2"])
    assert group.equals(table.slice(200_000).select(["c2"]).combine_chunks())
    assert len([n for n in asked if n]) <= 4
    assert sum(asked) < 0.2 * (tmp_path / "t.parquet").stat().st_size
    assert read_table(bucket / "t.parquet").equals(table)


def test_a_copy_is_local_under_the_same_name_and_gone_afterwards(folder: Location) -> None:
    content = os.urandom(storage.PIECE + 12345)
    write_bytes(folder / "shard-000000.tar", content)
    before = drafts()
    with local_copy(folder / "shard-000000.tar") as path:
        assert isinstance(path, Path)
        assert (path.name, path.read_bytes() == content) == ("shard-000000.tar", True)
    assert drafts() == before
    assert size_of(folder / "shard-000000.tar") == len(content)
    assert file_sha256(folder / "shard-000000.tar") == storage.hashlib.sha256(content).hexdigest()


def test_drafts_of_the_dead_are_removed_and_those_of_the_living_are_not() -> None:
    scratch = scratch_of(location("s3://x")).parents[1]
    host = socket.gethostname()
    dead, living = (scratch / f"{storage.TEMPORARY}{host}-{process}-0" for process in (4_194_304 + 7, os.getpid()))
    for path in (dead, living):
        path.write_bytes(b"half")
    sweep_scratch()
    assert (dead.exists(), living.exists()) == (False, True)
    living.unlink()


def test_a_location_works_in_a_process_that_was_forked_or_sent_to(bucket: UPath) -> None:
    write_bytes(bucket / "a", b"of the parent")  # its event loop runs by now
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # another test's knows nothing of this one's credentials
    for method in ("fork", "forkserver", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.apply_async(read_bytes, (bucket / "a",)).get(timeout=60) == b"of the parent"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("abfs://bucket/run", r"pip install 'adlfs'"),
        ("ftps3://bucket/run", "valid are paths and URLs of s3, gs"),
    ],
)
def test_a_location_that_cannot_be_reached_is_one_line(url: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as error:
        location(url)
    assert "\n" not in str(error.value)


def test_paths_and_file_urls_are_local() -> None:
    assert location("out/run") == Path("out/run")
    assert location("file:///out/run") == Path("/out/run")


def test_notes_beside_a_location_stay_below_the_users_own_folder() -> None:
    assert scratch_of(Path("/out/run")) == Path("/out/run")
    beside = scratch_of(location("s3://bucket/../../../etc/run"))
    assert ".." not in beside.parts
    assert f"obelics-{os.getuid()}" in beside.parts
