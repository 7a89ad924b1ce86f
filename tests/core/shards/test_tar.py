import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.document import Document, Node, TextNode
from obelics_pipeline.core.shards.record import Record, RecordFile, make_record
from obelics_pipeline.core.shards.tar import Placed, ShardWriter, TarDamaged, read_members, shard_size
from tests.stages.shard.runs import SCORES, document, image, make_run, read_image


def write(path: Path, documents: list[Document]) -> list[tuple[Record, Placed]]:
    with ShardWriter(path) as tar:
        return [(record, tar.add(record, read_image)) for record in (make_record(d, SCORES) for d in documents)]


def test_members_are_adjacent_json_first_and_carry_nothing_of_the_machine(tmp_path: Path) -> None:
    placed = write(tmp_path / "a.tar", [document(i) for i in range(3)])
    with tarfile.open(tmp_path / "a.tar") as tar:
        members = tar.getmembers()
    expected = [
        f"{record.doc_id}.{name}" for record, _ in placed for name in ["json", *(file.name for file in record.files)]
    ]
    assert [member.name for member in members] == expected
    assert {(m.mtime, m.uid, m.gid, m.uname, m.gname, m.mode) for m in members} == {
        (0, 0, 0, "obelics", "obelics", 0o444)
    }


def test_every_slice_of_the_index_reads_as_a_tar_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    placed = write(path, [document(i) for i in range(4)])
    data = path.read_bytes()
    at = 0
    for record, place in placed:
        assert place.offset == at
        at += place.length
        with tarfile.open(fileobj=io.BytesIO(data[place.offset : at])) as tar:
            assert tar.getnames() == [f"{record.doc_id}.{name}" for name in ["json", *(f.name for f in record.files)]]


def test_the_size_of_a_tar_is_known_before_it_is_written(tmp_path: Path) -> None:
    for count in (1, 2, 7, 20):
        path = tmp_path / f"{count}.tar"
        placed = write(path, [document(i) for i in range(count)])
        assert [place.length for _, place in placed] == [record.size for record, _ in placed]
        assert path.stat().st_size == shard_size(sum(record.size for record, _ in placed))


@given(st.lists(st.binary(max_size=2000), max_size=6))
@settings(max_examples=30)
def test_bytes_of_any_length_come_back_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, blobs: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("tar") / "a.tar"
    store = {hashlib.sha256(data).hexdigest(): data for data in blobs}
    files = tuple(
        RecordFile(f"{i:03d}.jpg", hashlib.sha256(data).hexdigest(), len(data)) for i, data in enumerate(blobs)
    )
    record = Record("key", b"{}", files, 0, len(files))
    with ShardWriter(path) as tar:
        placed = tar.add(record, store.__getitem__)
    with path.open("rb") as shard:
        read = [(member.name, member.stream.read()) for member in read_members(shard, placed, path.stat().st_size)]
    assert read == [("key.json", b"{}"), *((f"key.{f.name}", data) for f, data in zip(files, blobs, strict=True))]


def test_the_same_documents_give_the_same_bytes_under_any_hash_seed_time_and_user(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.stages.shard.runs import *; "
        "make_run(Path(sys.argv[1]), [document(i) for i in range(6)])"
    )
    environment = os.environ | {"PYTHONHASHSEED": "1", "TZ": "UTC+7", "USER": "somebody"}
    subprocess.run([sys.executable, "-c", code, tmp_path / "there"], check=True, env=environment)
    make_run(tmp_path / "here", [document(i) for i in range(6)])
    written = [
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "here", tmp_path / "there")
    ]
    assert len(written[0]) == 4
    assert written[0] == written[1]


def test_a_key_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is there already"):
        write(tmp_path / "a.tar", [document(1), document(1)])


def test_a_tar_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="without documents"), ShardWriter(tmp_path / "a.tar"):
        pass


def test_bytes_of_the_store_that_are_not_the_recorded_ones_are_refused(tmp_path: Path) -> None:
    record = make_record(document(1, [TextNode("a"), image(1)]), SCORES)
    for wrong in (b"other", read_image(record.files[0].sha256)[:-1] + b"x"):
        with pytest.raises(ValueError, match="holds other bytes"), ShardWriter(tmp_path / "a.tar") as tar:
            tar.add(record, lambda _sha256, wrong=wrong: wrong)  # type: ignore[misc]


def test_memory_does_not_grow_with_the_tar(tmp_path: Path) -> None:
    with ShardWriter(tmp_path / "a.tar") as tar:
        for i in range(50):
            nodes: list[Node] = [TextNode("a"), image(i % 16)]
            tar.add(make_record(document(i, nodes), SCORES), read_image)
            assert not tar._tar.tarstream.members


@pytest.mark.parametrize(
    "place", [Placed(-512, 512), Placed(0, 0), Placed(7, 512), Placed(0, 10**15), Placed(512, 512), Placed(0, 512)]
)
def test_offsets_that_are_not_those_of_a_document_are_told(tmp_path: Path, place: Placed) -> None:
    path = tmp_path / "a.tar"
    write(path, [document(1)])
    with path.open("rb") as shard, pytest.raises(TarDamaged):
        list(read_members(shard, place, path.stat().st_size))


@given(st.binary(max_size=3000))
@settings(max_examples=50)
def test_any_bytes_are_read_or_told_to_be_damaged(data: bytes) -> None:
    data = data.ljust(3072, b"\0")
    with contextlib.suppress(TarDamaged):
        for member in read_members(io.BytesIO(data), Placed(0, len(data)), len(data)):
            member.sha256()


@given(st.integers(0, 511), st.integers(0, 255))
@settings(max_examples=60)
def test_a_header_with_any_byte_changed_is_read_or_told_to_be_damaged(at: int, value: int) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        info = tarfile.TarInfo("key.json")
        info.size = 2
        tar.addfile(info, io.BytesIO(b"{}"))
    data = bytearray(out.getvalue()[:1024])
    data[at] = value
    with contextlib.suppress(TarDamaged):
        assert [m.stream.read() for m in read_members(io.BytesIO(bytes(data)), Placed(0, 1024), 1024)] == [b"{}"]
