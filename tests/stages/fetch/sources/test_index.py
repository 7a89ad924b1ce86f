"""What the files of img2dataset hold is found by URL, and a bad file costs what is bad in it."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.fetch.sources.found import find_sources
from obelics_pipeline.stages.fetch.sources.index import DAMAGED, HELD
from tests.core.storage.conftest import new_bucket
from tests.stages.fetch.site import picture
from tests.stages.fetch.sources.made import add, image, index, write

A, B, C = "http://a.example/1.jpg", "http://B.example/2.jpg#x", "http://c.example/3.jpg"
ONE, TWO = picture(), picture(colour="blue")


def held(folder: Path, *patterns: object) -> dict[str, list[str]]:
    """The keys of the images of each URL, in their order."""
    sources, _ = index(folder, *patterns)
    urls = [A, B, C]
    return {url: [i.key for i in of] for url, of in sources.held(["index.parquet"], urls).by_url.items()}


def counts(folder: Path, *patterns: object) -> list[tuple[dict[str, Any], str | None]]:
    return [(m.ledgers[HELD].to_json(), m.notes[DAMAGED]) for m in index(folder, *patterns)[1]]


@pytest.mark.parametrize("format", ["webdataset", "parquet", "files"])
def test_images_are_found_in_each_format_however_their_url_is_spelled(tmp_path: Path, format: str) -> None:
    lost = image(C, b"", status="failed_to_download", sha256=None)
    folder = write(format, tmp_path / "images", [image(A, ONE), image("http://b.example:80/2.jpg", TWO), lost])
    assert held(tmp_path, folder) == {A: ["000000000"], B: ["000000001"]}
    ((ledger, damaged),) = counts(tmp_path, folder)
    dropped = {} if format == "webdataset" else {"not_fetched": 1}  # a tar has only those that came
    assert (ledger["kept"], ledger["dropped"], ledger["failed"], damaged) == (2, dropped, {}, None)


def test_of_one_url_the_first_source_comes_first_and_a_few_are_kept(tmp_path: Path) -> None:
    first = write("files", tmp_path / "z", [image(A, ONE)])
    second = write("webdataset", tmp_path / "a", [image(A, TWO)] * 5)
    sources, _ = index(tmp_path, first / "*.parquet", second / "00000.tar", second)
    images = sources.held(["index.parquet"], [A]).by_url[A]
    assert [Path(i.file).parent.name for i in images] == ["z", "a", "a"]


def test_a_source_that_names_nothing_is_one_line(tmp_path: Path) -> None:
    for pattern in (tmp_path / "none", tmp_path, tmp_path / "*.tar"):
        with pytest.raises(UserError, match=r"fetch\.sources .*names no file of images; valid are folders"):
            find_sources([str(pattern)], {})


def test_sources_in_a_store_are_found_and_read(s3: str, tmp_path: Path) -> None:
    where = new_bucket("held") / "images"
    folder = write("webdataset", tmp_path / "images", [image(A, ONE), image(B, TWO)])
    for path in folder.iterdir():
        (where / path.name).write_bytes(path.read_bytes())
    for pattern in (where, where / "*.tar", where / "00000.tar"):
        assert [file.name for file in find_sources([str(pattern)], {})] == [str(where / "00000.tar")]
    assert held(tmp_path, where) == {A: ["000000000"], B: ["000000001"]}


def hostile_tar(path: Path) -> None:
    about = {key: value for key, value in image(A, ONE)[2].items() if value is not None}
    with tarfile.open(path, "w") as tar:
        for name, kind in (("0.jpg", tarfile.SYMTYPE), ("0.json", tarfile.LNKTYPE)):
            add(tar, name, b"", type=kind, linkname="/etc/passwd")
        add(tar, "/etc/1.jpg", ONE)  # nothing is unpacked: its name is its key
        add(tar, "/etc/1.json", json.dumps({"url": A, **about}).encode())
        add(tar, "2.jpg", ONE)
        add(tar, "2.json", b"[" * 100_000)
        add(tar, "3.jpg", ONE)
        add(tar, "3.json", json.dumps({"url": A, **about}).encode() + b" " * 2**20)
        add(tar, "4.json", json.dumps({"url": B, **about}).encode())
        add(tar, "5.jpg", ONE)
        add(tar, "5.json", json.dumps({"url": "file:///etc/passwd", **about}).encode())
        add(tar, "6.jpg", ONE)
        add(tar, "6.json", json.dumps({"url": B, **about, "width": "9" * 400}).encode())
    member = tarfile.TarInfo("7.jpg")
    member.size = 2**40
    content = path.read_bytes().rstrip(b"\0")
    path.write_bytes(content + bytes(-len(content) % tarfile.BLOCKSIZE) + member.tobuf(tarfile.GNU_FORMAT))


def test_of_a_hostile_tar_what_is_sound_is_kept_and_the_rest_is_counted(tmp_path: Path) -> None:
    hostile_tar(tmp_path / "x.tar")
    ((ledger, damaged),) = counts(tmp_path, tmp_path / "x.tar")
    assert (ledger["kept"], ledger["failed"]) == (1, {"bad_notes": 3, "no_image": 1, "bad_url": 1})
    assert damaged is not None
    assert damaged.endswith("ends beyond the tar")


def table(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_a_bad_file_costs_that_file(tmp_path: Path) -> None:
    good = write("parquet", tmp_path / "good", [image(A, ONE)])
    (tmp_path / "text.tar").write_bytes(b"no tar" * 1000)
    (tmp_path / "empty.tar").write_bytes(b"")
    (tmp_path / "text-as.parquet").write_bytes(b"no table")
    table(tmp_path / "other.parquet", caption=["a"])
    table(tmp_path / "typed.parquet", url=[1], key=[2], status=[3], jpg=[b"x"])
    table(tmp_path / "key.parquet", url=[A], key=["../../etc/passwd"], status=["success"], jpg=[b"x"])
    bad = ("text.tar", "empty.tar", "text-as.parquet", "other.parquet", "typed.parquet", "key.parquet")
    found = counts(tmp_path, *(tmp_path / name for name in bad), good)
    assert [ledger["kept"] for ledger, _ in found] == [0, 0, 0, 0, 0, 0, 1]
    assert [bool(damaged) for _, damaged in found] == [True, True, True, True, False, False, False]
    assert [ledger["failed"] for ledger, _ in found] == [{}, {}, {}, {}, {"bad_notes": 1}, {"bad_notes": 1}, {}]
