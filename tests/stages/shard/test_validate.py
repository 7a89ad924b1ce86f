import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Node, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.index_name import part_name
from obelics_pipeline.core.shards.manifest import read_manifest, write_manifest
from obelics_pipeline.core.shards.record import content_sha256, record_size
from obelics_pipeline.core.shards.run_index import RowSpan
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.stages.shard import check_shard, readback
from obelics_pipeline.stages.shard import validate as validate_module
from obelics_pipeline.stages.shard.check_index import CheckedPart
from obelics_pipeline.stages.shard.validate import problems, validate

from .runs import cut_index, document, image, make_run, picture, without_page_type

DOCUMENTS = [document(i) for i in range(5)]
SECOND = DOCUMENTS[1].doc_id


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two shards, of three documents and of two."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    make_run(folder, DOCUMENTS, per_shard=3)
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of it to damage."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def shard(run: Path, number: int = 0) -> Path:
    return run / f"shards/shard-00000{number}.tar"


def accept(run: Path) -> None:
    """Bring manifest and hashes into line with what lies there, so that only deeper checks can find the damage."""
    path = run / "manifest.json"
    value = json.loads(path.read_text())
    for entry in value["shards"]:
        tar = run / "shards" / entry["name"]
        entry["sha256"], entry["bytes"] = file_sha256(tar), tar.stat().st_size
    value["counts"]["bytes"] = sum(entry["bytes"] for entry in value["shards"])
    index = run / "index.parquet"
    value["index"]["sha256"], value["index"]["bytes"] = file_sha256(index), index.stat().st_size
    path.write_text(json.dumps(value))


def change_manifest(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = run / "manifest.json"
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def change_index(run: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    path = run / "index.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    accept(run)


Members = list[tuple[tarfile.TarInfo, bytes]]


def repack(run: Path, change: Callable[[Members], Members], index: bool = True) -> None:
    """Rewrite the first shard with changed members; with `index`, offsets and content hashes are made to fit."""
    path = shard(run)
    with tarfile.open(path) as tar:
        members = [(info, tar.extractfile(info).read()) for info in tar]  # type: ignore[union-attr]
    members = change(members)
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for info, data in members:
            info.size = len(data) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(data))
    accept(run)
    if index:
        change_index(run, lambda rows: _fit(rows, members))


def _fit(rows: list[dict[str, Any]], members: Members) -> None:
    import hashlib

    at = 0
    for row in (row for row in rows if row["shard"] == "shard-000000.tar"):
        own = [(info.name, data) for info, data in members if info.name.startswith(row["doc_id"])]
        row["offset"], row["length"] = at, record_size(len(data) for _, data in own)
        row["content_sha256"] = content_sha256((name, hashlib.sha256(data).hexdigest()) for name, data in own)
        at += row["length"]


def regular(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), data


def lines(run: Path) -> list[str]:
    found = problems(run)
    assert all("\n" not in line for line in found)
    return found


def said(run: Path, *words: str) -> bool:
    """Whether one problem's line holds all of these."""
    found = lines(run)
    assert any(all(word in line for word in words) for line in found), found
    return True


def test_a_run_as_written_is_valid(finished: Path) -> None:
    report = validate(finished)
    assert report.problems == ()
    assert report.skipped == ()
    assert report.exit_code == 0
    assert report.counts["documents"] == 5
    assert report.lines()[-1].startswith("valid: 2 shards, 5 documents")


@pytest.mark.parametrize("damaged", [False, True])
def test_what_workers_find_are_json_values_as_beam_demands(run: Path, damaged: bool) -> None:
    cut_index(run, 1, 1)
    if damaged:
        (run / "index-000001.parquet").write_bytes(b"no index")

    def brought_back(check: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        for task in tasks:
            value = check(task)
            assert json.loads(json.dumps(value)) == value
            yield value

    assert bool(problems(run, brought_back)) is damaged


def test_who_hands_out_the_checks_reads_no_row(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_index(run, 1, 1)
    handed = list[Any]()

    def outlined(check: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        for task in tasks:
            handed.append(task)
            yield CheckedPart(()).to_json() if check.func is validate_module._check_part else []  # type: ignore[attr-defined]

    monkeypatch.setattr(validate_module, "look_up_problems", lambda *_: [])
    for path in run.glob("index*.parquet"):
        path.unlink()
    assert problems(run, outlined) == []
    assert [task[1] for task in handed[2:]] == [
        RowSpan("index-000000.parquet", 0, 3),
        RowSpan("index-000001.parquet", 0, 2),
    ]


def test_only_the_shards_that_are_asked_for_are_read_back(run: Path) -> None:
    shard(run).write_bytes(b"x")
    assert problems(run, only={"shard-000001.tar"}) == []
    assert problems(run, only={"shard-000000.tar"}) != []


def test_an_index_in_parts_is_valid(run: Path) -> None:
    cut_index(run, 1, 0, 1)
    assert lines(run) == []


@pytest.mark.parametrize(
    ("damage", "said_of_it"),
    [
        (lambda run: part(run, 1).write_bytes(part(run, 1).read_bytes()[:-1] + b"x"), "cannot be read"),
        (lambda run: part(run, 1).unlink(), "cannot be read"),
        (lambda run: part(run, 1).write_bytes(part(run, 0).read_bytes()), "its sha256 is not the manifest's"),
        (lambda run: change_part(run, lambda rows: rows[0].update(n_texts=99)), "its sha256 is not the manifest's"),
    ],
)
def test_a_damaged_part_of_an_index_is_named(run: Path, damage: Callable[[Path], object], said_of_it: str) -> None:
    cut_index(run, 1, 1)
    damage(run)
    assert said(run, f"index-000001.parquet: {said_of_it}")
    assert not any(line.startswith(("index-000000", "shard-000000")) for line in lines(run))


def test_shards_whose_part_of_the_index_is_of_use_are_read_back_though_another_is_not(run: Path) -> None:
    cut_index(run, 1, 1)
    part(run, 1).unlink()
    shard(run).write_bytes(b"x")
    assert said(run, "shard-000000.tar")


def test_parts_of_an_index_that_changed_places_are_found(run: Path) -> None:
    cut_index(run, 1, 1)
    first, second = part(run, 0).read_bytes(), part(run, 1).read_bytes()
    part(run, 0).write_bytes(second)
    part(run, 1).write_bytes(first)
    value = json.loads((run / "manifest.json").read_text())
    parts = value["index"]["parts"]
    for key in ("sha256", "bytes"):
        parts[0][key], parts[1][key] = parts[1][key], parts[0][key]
    (run / "manifest.json").write_text(json.dumps(value))
    assert said(run, "index-000000.parquet", "shard-000001.tar", "or lists elsewhere")
    assert said(run, "index-000001.parquet", "shard-000000.tar", "or lists elsewhere")


def test_a_part_of_another_run_is_found(run: Path, tmp_path: Path) -> None:
    cut_index(run, 1, 1)
    make_run(tmp_path / "other", [document(i) for i in range(20, 25)], per_shard=3)
    cut_index(tmp_path / "other", 1, 1)
    part(run, 1).write_bytes(part(tmp_path / "other", 1).read_bytes())
    entry = read_manifest(tmp_path / "other").index[1]
    manifest = read_manifest(run)
    write_manifest(run, replace(manifest, index=(manifest.index[0], entry)))
    assert said(run, "shard-000001.tar", "not within the tar")


def test_a_tar_whose_rows_stand_in_the_wrong_part_is_found(run: Path) -> None:
    cut_index(run, 1, 1)
    manifest = read_manifest(run)
    write_manifest(
        run, replace(manifest, index=(replace(manifest.index[0], tars=2), replace(manifest.index[1], tars=0)))
    )
    assert said(run, "index-000001.parquet", "shard-000001.tar", "or lists elsewhere")
    assert said(run, "shard-000001.tar", "0 documents by the index")


def test_tars_that_do_not_follow_each_other_as_in_the_manifest_are_found(run: Path) -> None:
    change_manifest(run, lambda value: value["shards"].reverse())
    assert said(run, "index.parquet: its tars do not follow each other as in the manifest")


def test_a_document_that_is_in_two_parts_is_found(run: Path) -> None:
    change_index(run, lambda rows: rows[4].update(doc_id=rows[0]["doc_id"]))
    cut_index(run, 1, 1)
    assert said(run, DOCUMENTS[0].doc_id, "is in it 2 times")


def part(run: Path, number: int) -> Path:
    return run / part_name(number)


def change_part(run: Path, change: Callable[[list[Any]], object]) -> None:
    table = pq.read_table(part(run, 1))
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), part(run, 1))


def test_an_index_whose_pages_cannot_be_read_is_a_problem_and_no_crash(run: Path) -> None:
    path = run / "index.parquet"
    at = pq.read_metadata(path).row_group(0).column(3).data_page_offset
    data = bytearray(path.read_bytes())
    data[at : at + 40] = b"\xff" * 40
    path.write_bytes(data)
    accept(run)
    assert said(run, "index.parquet: cannot be read")


def test_shards_can_be_checked_by_a_pool(run: Path) -> None:
    shard(run).write_bytes(shard(run).read_bytes()[:-512])
    with ThreadPoolExecutor(2) as pool:
        assert problems(run, pool.map) == problems(run)


@pytest.mark.parametrize("fetch", [True, False])
def test_runs_without_images_without_scores_and_without_documents_are_valid(tmp_path: Path, fetch: bool) -> None:
    config = RunConfig.model_validate({"fetch": {"enabled": fetch}, "images": {"min_per_document": 0}})
    unfetched = image(1, sha256=None, n_bytes=None, format=None, original_width=None, original_height=None)
    nodes: list[Node] = [TextNode("a")]
    nodes += [] if fetch else [unfetched]
    make_run(tmp_path / "text", [document(i, list(nodes)) for i in range(2)], config=config)
    assert problems(tmp_path / "text") == []
    make_run(tmp_path / "empty", [], config=config)
    assert problems(tmp_path / "empty") == []
    make_run(tmp_path / "scores", DOCUMENTS[:2], config=RunConfig(), scores=())
    assert problems(tmp_path / "scores") == []


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=5, unique=True), st.integers(1, 3))
@settings(max_examples=6)
def test_whatever_documents_are_written_every_reader_gives_them_back(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int], per_shard: int
) -> None:
    folder = tmp_path_factory.mktemp("random") / "run"
    make_run(folder, [document(i) for i in numbers], per_shard)
    assert problems(folder) == []


def test_a_folder_that_is_no_finished_run_is_refused(run: Path) -> None:
    (run / "manifest.json").unlink()
    with pytest.raises(UserError, match="no finished run"):
        validate(run)


# Damage to files


def test_a_flipped_byte_is_found_wherever_it_is(run: Path) -> None:
    original = shard(run).read_bytes()
    for at in (0, 130, 600, len(original) // 2, len(original) - 1):
        data = bytearray(original)
        data[at] ^= 1
        shard(run).write_bytes(data)
        assert said(run, "shard-000000.tar", "sha256")


def test_a_flipped_byte_is_found_and_its_document_named_even_if_the_hashes_were_made_to_fit(run: Path) -> None:
    original = shard(run).read_bytes()
    start = pq.read_table(run / "index.parquet").to_pylist()[1]["offset"]
    for at in (start + 3, start + 512 + 30, start + 512 + 100):
        data = bytearray(original)
        data[at] ^= 1
        shard(run).write_bytes(data)
        accept(run)
        assert said(run, "shard-000000.tar", SECOND)


@pytest.mark.parametrize("cut", [0, 1, 511, 512, 1024, 5000])
def test_a_truncated_tar_is_found(run: Path, cut: int) -> None:
    shard(run).write_bytes(shard(run).read_bytes()[:cut])
    assert said(run, "shard-000000.tar", f"{cut} bytes, in the manifest")
    accept(run)
    assert said(run, "shard-000000.tar", DOCUMENTS[0].doc_id)


def test_swapped_shards_are_found(run: Path) -> None:
    shard(run, 0).rename(run / "x")
    shard(run, 1).rename(shard(run, 0))
    (run / "x").rename(shard(run, 1))
    accept(run)
    assert said(run, "shard-000000.tar", DOCUMENTS[0].doc_id)
    assert said(run, "shard-000001.tar", DOCUMENTS[3].doc_id)


def test_a_missing_a_strange_and_an_unreadable_shard_are_found(run: Path) -> None:
    shard(run, 1).rename(run / "shards/shard-000007.tar")
    found = lines(run)
    assert "shard-000007.tar: is not in the manifest" in found
    assert "shard-000001.tar: cannot be read: No such file or directory" in found


def test_bytes_after_the_last_document_are_found(run: Path) -> None:
    path = shard(run, 1)
    data = bytearray(path.read_bytes())
    data[-1] = 1
    path.write_bytes(data)
    accept(run)
    assert said(run, "shard-000001.tar", "bytes after its last document")


def test_a_tar_that_is_no_tar_is_found(run: Path) -> None:
    size = shard(run).stat().st_size
    for data in (b"\0" * size, b"PK\3\4" + b"x" * (size - 4)):
        shard(run).write_bytes(data)
        accept(run)
        assert said(run, "shard-000000.tar", DOCUMENTS[0].doc_id, "byte 0")


# Damage to members, with manifest and index made to fit


def at_end_of_second(members: Members, *extra: tuple[tarfile.TarInfo, bytes]) -> Members:
    last = max(i for i, (info, _) in enumerate(members) if info.name.startswith(SECOND))
    return [*members[: last + 1], *extra, *members[last + 1 :]]


@pytest.mark.parametrize(
    "name", [f"{SECOND}.099.jpg", f"{SECOND}.pkl", f"{SECOND}.json", f"{SECOND}./../../etc/x", f"{SECOND}.sub/x.jpg"]
)
def test_a_member_too_many_is_found(run: Path, name: str) -> None:
    repack(run, lambda members: at_end_of_second(members, regular(name, picture("jpeg"))))
    assert said(run, "shard-000000.tar", SECOND, "files names")


@pytest.mark.parametrize("name", ["../../../tmp/evil.jpg", "/tmp/evil.jpg", "other.json", "noextension", "__x__"])
def test_a_member_of_no_document_is_found_and_nothing_is_written(run: Path, name: str) -> None:
    repack(run, lambda members: at_end_of_second(members, regular(name, b"x")), index=False)
    assert said(run, "shard-000000.tar", DOCUMENTS[2].doc_id)
    assert sorted(p.name for p in run.iterdir()) == ["index.parquet", "manifest.json", "shards"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_a_link_or_device_is_found(run: Path, kind: bytes) -> None:
    odd = tarfile.TarInfo(f"{SECOND}.link.jpg")
    odd.type, odd.linkname = kind, "/etc/hostname"
    repack(run, lambda members: at_end_of_second(members, (odd, b"")))
    assert said(run, "shard-000000.tar", SECOND, "is no plain file")


def test_members_in_another_order_are_found(run: Path) -> None:
    def rotate(members: Members) -> Members:
        own = [m for m in members if m[0].name.startswith(SECOND)]
        others = [m for m in members if not m[0].name.startswith(SECOND)]
        first = next(i for i, (info, _) in enumerate(others) if info.name.startswith(DOCUMENTS[2].doc_id))
        return [*others[:first], *own[1:], own[0], *others[first:]]

    repack(run, rotate)
    assert said(run, SECOND, "its first member must be")


def test_a_picture_that_does_not_decode_or_is_another_is_found(run: Path) -> None:
    def spoil(spoiled: Callable[[bytes], bytes]) -> Callable[[Members], Members]:
        def change(members: Members) -> Members:
            at = next(
                i for i, (info, _) in enumerate(members) if info.name.startswith(SECOND) and "json" not in info.name
            )
            info, data = members[at]
            return [*members[:at], (info, spoiled(data)), *members[at + 1 :]]

        return change

    repack(run, spoil(lambda data: data[: len(data) // 2]))
    assert said(run, SECOND, "cannot be decoded")
    repack(run, spoil(lambda _: b"GIF89a"))
    assert said(run, SECOND, "cannot be decoded")
    repack(run, spoil(lambda _: _tiny()))
    assert said(run, SECOND, "is png of 3 x 3, its metadata say")


def _tiny() -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (3, 3)).save(out, "PNG")
    return out.getvalue()


def change_json(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    def edit(members: Members) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
        for info, data in members:
            if info.name == f"{SECOND}.json":
                value = json.loads(data)
                change(value)
                data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
            yield info, data

    repack(run, lambda members: list(edit(members)))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda value: value["texts"].pop(), "differ in length"),
        (lambda value: value.update(metadata="[]"), "differ in length"),
        (lambda value: value.update(doc_id="other"), "doc_id is"),
        (lambda value: value["files"].reverse(), "file"),
        (lambda value: value["scores"].update(word_count=7.0), "score word_count is 7.0"),
        (lambda value: value.pop("language"), "must have the keys"),
        (lambda value: value.update(metadata=value["metadata"].replace("pictures", "elsewhere")), "metadata.src"),
    ],
)
def test_a_record_that_is_not_aligned_is_found(
    run: Path, change: Callable[[dict[str, Any]], object], word: str
) -> None:
    change_json(run, change)
    assert said(run, "shard-000000.tar", SECOND, word)


def test_a_record_that_is_no_json_is_found(run: Path) -> None:
    def spoil(members: Members) -> Members:
        return [(info, b"{" if info.name == f"{SECOND}.json" else data) for info, data in members]

    repack(run, spoil)
    assert said(run, SECOND, "is not JSON")


def test_a_pickle_in_a_tar_is_never_loaded(run: Path, tmp_path: Path) -> None:
    import os
    import pickle

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "was-here"),)

    repack(run, lambda members: at_end_of_second(members, regular(f"{SECOND}.pyd", pickle.dumps(Evil()))))
    rows = [row for row in pq.read_table(run / "index.parquet").to_pylist() if row["shard"] == "shard-000000.tar"]
    assert lines(run)
    assert len(list(readback.webdataset_samples(shard(run)))) == len(rows)
    assert not (tmp_path / "was-here").exists()


# Damage to index and manifest


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[1].update(offset=rows[1]["offset"] + 512), [SECOND, "starts at byte"]),
        (lambda rows: rows[1].update(length=rows[1]["length"] + 512), [SECOND, "shard-000000.tar"]),
        (lambda rows: rows[1].update(content_sha256="0" * 64), [SECOND, "content is not what"]),
        (lambda rows: rows[1].update(doc_id=rows[0]["doc_id"]), [DOCUMENTS[0].doc_id, "twice in the shard"]),
        (lambda rows: rows[4].update(doc_id=rows[0]["doc_id"]), [DOCUMENTS[0].doc_id, "is in it 2 times"]),
        (lambda rows: rows[1].update(n_texts=99), [SECOND, "number of texts"]),
        (lambda rows: rows[1].update(n_texts=99), ["texts by the index"]),
        (lambda rows: rows[1].update(url="x"), [SECOND, "general_metadata.url"]),
        (lambda rows: rows[1].update(word_count=None), [SECOND, "score word_count"]),
        (lambda rows: rows[1].update(language="xx"), [SECOND, "language"]),
        (lambda rows: rows[1].update(page_type=None), [SECOND, "general_metadata.page_type is 'forum'"]),
        (lambda rows: rows.pop(1), [DOCUMENTS[2].doc_id, "starts at byte"]),
        (lambda rows: rows.pop(), ["shard-000001.tar", "1 documents by the index, 2 in the manifest"]),
        (lambda rows: rows.append(rows[0]), ["index.parquet", "shard-000000.tar", "or lists elsewhere"]),
        (lambda rows: rows[4].update(shard="../x.tar"), ["index.parquet", "../x.tar"]),
        (lambda rows: rows.__delitem__(slice(3, 5)), ["shard-000001.tar", "a shard without documents"]),
        (lambda rows: rows[1].update(offset=-512), [SECOND, "are not within the tar"]),
        (lambda rows: rows[2].update(length=2**60), [DOCUMENTS[2].doc_id, "are not within the tar"]),
    ],
)
def test_an_index_that_differs_is_found(run: Path, change: Callable[[list[Any]], object], words: list[str]) -> None:
    change_index(run, change)
    assert said(run, *words)


def test_a_run_of_before_the_kind_of_page_was_a_column_is_whole(run: Path) -> None:
    without_page_type(run)
    assert lines(run) == []


def test_an_index_with_other_bytes_columns_or_none_is_found(run: Path) -> None:
    path = run / "index.parquet"
    table = pq.read_table(path)
    pq.write_table(table, path, compression="none")
    assert lines(run) == ["index.parquet: its sha256 is not the manifest's"]
    pq.write_table(table.drop_columns(["perplexity"]), path)
    assert said(run, "index.parquet: cannot be used")
    path.write_bytes(path.read_bytes()[:100])
    assert said(run, "index.parquet: cannot be read")
    path.unlink()
    assert said(run, "index.parquet: cannot be read")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m["counts"].update(documents=6), ["counts are"]),
        (lambda m: m["shards"].append(m["shards"][0]), ["listed twice"]),
        (lambda m: m["shards"].pop(), ["index.parquet", "shard-000001.tar"]),
        (lambda m: m["shards"][0].update(name="../run/x.tar"), ["no name of a shard"]),
        (lambda m: m["shards"][0].update(sha256="0" * 64), ["shard-000000.tar: its sha256"]),
        (lambda m: m["shards"][0].update(images=0), ["images by the index, 0 in the manifest"]),
        (lambda m: m["ledgers"]["documents"].update({"in": 99}), ["the ledger of documents does not balance"]),
        (lambda m: m["ledgers"]["images"].update({"kept": 0, "in": 0}), ["0 images kept by the ledger"]),
        (lambda m: m["promises"].update(score_names=["a"]), ["index.parquet: cannot be used"]),
        (lambda m: m["promises"].update(min_images=9), ["promised are 9 to 30"]),
    ],
)
def test_a_manifest_that_differs_is_found(
    run: Path, change: Callable[[dict[str, Any]], object], words: list[str]
) -> None:
    change_manifest(run, change)
    assert said(run, *words)


def test_a_file_outside_the_folder_of_shards_is_never_read(run: Path) -> None:
    shutil.copy(shard(run), run / "x.tar")
    change_manifest(run, lambda value: value["shards"][0].update(name="../x.tar"))
    assert not any(line.startswith("../x.tar") for line in lines(run))


# The readers


def test_what_only_webdataset_or_only_datasets_would_read_otherwise_is_found(finished: Path) -> None:
    rows = [r for r in pq.read_table(finished / "index.parquet").to_pylist() if r["shard"] == "shard-000000.tar"]
    names = {"json"} | {name for _, sample in readback.webdataset_samples(shard(finished)) for name in sample}
    wrong = [rows[0], rows[1] | {"content_sha256": "0"}, rows[2]]
    scores = ("word_count", "perplexity")
    readers: list[Callable[[list[Any]], list[str]]] = [
        lambda rows: list(readback.webdataset_problems(shard(finished), rows)),
        lambda rows: list(readback.datasets_problems(shard(finished), rows, names, scores)),
    ]
    for reader in readers:
        assert reader(rows) == []
        assert [SECOND in line for line in reader(wrong)] == [True]
        assert "reads nothing" in reader([*rows, rows[0]])[0]
        assert "after the last document" in reader(rows[:2])[0]
        assert len(reader(rows[::-1])) == 1


def test_a_shard_loads_with_datasets_in_whole_as_well_as_in_a_stream(finished: Path, tmp_path: Path) -> None:
    import datasets

    samples = dict(readback.webdataset_samples(shard(finished)))
    names = sorted({name for sample in samples.values() for name in sample} - {"json"})
    table = datasets.load_dataset(
        "webdataset",
        data_files={"train": [str(shard(finished))]},
        features=readback.features(names, ("word_count", "perplexity")),
        split="train",
        cache_dir=str(tmp_path),
    )
    assert len(table) == len(samples)
    for row in table:
        expected = samples[row["__key__"]]
        assert row["json"] == json.loads(expected["json"])
        assert {name: row[name]["bytes"] for name in names if row[name]} == {
            n: b for n, b in expected.items() if n != "json"
        }


def test_a_reader_that_fails_is_a_problem_of_the_shard(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Iterator[str]:
        raise RuntimeError("no\nway")

    monkeypatch.setattr(check_shard, "datasets_problems", fail)
    assert problems(finished)[0] == "shard-000000.tar: datasets cannot read it: RuntimeError: no way"


def test_datasets_leaves_no_trace_and_its_settings_as_they_were(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    import datasets

    left = set(Path(tempfile.gettempdir()).glob("obelics-validate-*"))
    for offline in (True, False):
        monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", offline)
        bars = datasets.is_progress_bar_enabled()
        assert problems(finished) == []
        assert (datasets.config.HF_HUB_OFFLINE, datasets.is_progress_bar_enabled()) == (offline, bars)
    assert set(Path(tempfile.gettempdir()).glob("obelics-validate-*")) == left


def test_where_pillow_or_datasets_are_missing_it_is_said_and_the_rest_is_checked(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_shard, "find_spec", lambda name: None)
    report = validate(finished)
    assert report.problems == ()
    assert len(report.skipped) == 2
    assert any("install pillow" in line for line in report.lines())


def test_many_problems_of_one_shard_are_counted_not_listed(tmp_path: Path) -> None:
    make_run(tmp_path / "run", [document(i) for i in range(30)], per_shard=30)
    change_index(tmp_path / "run", lambda rows: [row.update(url="x") for row in rows])
    found = lines(tmp_path / "run")
    assert len(found) == check_shard.LISTED + 1
    assert found[-1] == "shard-000000.tar: 10 more problems in this shard"
