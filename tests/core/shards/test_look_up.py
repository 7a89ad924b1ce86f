"""A document is found by its URL or its id in few bytes, and nothing damaged or stale gives a wrong answer."""

import hashlib
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.shards import look_up
from obelics_pipeline.core.shards.look_up import (
    FOLDER,
    KEYS,
    SCHEMA,
    NoLookUp,
    bucket_of,
    by_id,
    by_url,
    fingerprint,
    is_whole,
    key_hashes,
    places,
    read_look_up,
    rows_by_id,
    rows_of,
    write_look_up,
)
from obelics_pipeline.core.shards.manifest import RunManifest, read_manifest
from obelics_pipeline.core.shards.source import all_documents
from tests.stages.shard.runs import add_look_ups, document, make_run

DOCUMENTS = [document(number) for number in range(11)]
PARTS_OF_A_PAGE = [replace(document(number), url=DOCUMENTS[2].url) for number in (20, 21)]
ALL = [*DOCUMENTS, *PARTS_OF_A_PAGE]


@pytest.fixture(scope="module", params=[1, 5])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("found") / "run"
    make_run(folder, ALL, per_shard=3)
    add_look_ups(folder, request.param)
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def test_each_document_is_found_by_its_url_and_its_id_as_the_index_has_it(finished: Path) -> None:
    manifest, stored = read_manifest(finished), list(all_documents(finished))
    rows = {row["doc_id"]: row for row in pq.read_table(finished / "index.parquet").to_pylist()}
    found = by_id(finished, manifest, [d.doc_id for d in ALL])
    assert {doc_id: d.row for doc_id, d in found.items()} == rows
    of_urls = by_url(finished, manifest, [d.url for d in ALL])
    assert of_urls == {d.url: [s for s in stored if s.row["url"] == d.url] for d in ALL}
    assert len(of_urls[DOCUMENTS[2].url]) == 3


def test_what_no_document_has_is_left_out(finished: Path) -> None:
    manifest = read_manifest(finished)
    assert by_url(finished, manifest, ["http://pages.example/no", DOCUMENTS[0].url.upper(), ""]) == {}
    assert by_id(finished, manifest, ["0" * 32]) == {}
    assert by_id(finished, manifest, []) == {}


def test_a_bucket_is_opened_once_for_many_keys(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    read = look_up._rows
    monkeypatch.setattr(look_up, "_rows", lambda folder, of: (asked.append(of[0].name), read(folder, of))[1])
    places(finished, read_manifest(finished), "url", [d.url for d in ALL])
    assert len(asked) == len(set(asked)) <= 5


def test_another_key_with_the_same_hash_is_not_taken_for_it(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(run / FOLDER)
    monkeypatch.setattr(look_up, "key_hashes", lambda keys: np.full(len(list(keys)), 7, np.uint64))
    manifest = add_look_ups(run)
    assert len(places(run, manifest, "id", [DOCUMENTS[3].doc_id])[DOCUMENTS[3].doc_id]) == len(ALL)
    assert list(by_id(run, manifest, [DOCUMENTS[3].doc_id])) == [DOCUMENTS[3].doc_id]
    assert by_id(run, manifest, ["0" * 32]) == {}


def test_a_run_of_before_is_read_by_its_index(run: Path) -> None:
    manifest = replace(read_manifest(run), look_up=())
    with pytest.raises(NoLookUp, match=r"run: has no look-up: its index is read whole$"):
        by_id(run, manifest, [DOCUMENTS[0].doc_id])


def flipped(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(data)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _other_rows(path: Path) -> None:
    write_look_up(read_look_up(path).slice(1), path)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut": _cut,
    "no table": lambda path: path.write_bytes(b"x" * path.stat().st_size),
    "a bit of the hashes": lambda path: flipped(path, 60),
    "a bit of the footer": lambda path: flipped(path, path.stat().st_size - 100),
    "the last bit": lambda path: flipped(path, path.stat().st_size - 1),
    "fewer rows": _other_rows,
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_look_up_leads_to_the_index_and_to_no_wrong_answer(run: Path, what: str) -> None:
    manifest = read_manifest(run)
    doc_id = DOCUMENTS[4].doc_id
    (bucket,) = bucket_of(key_hashes([doc_id]), sum(part.kind == "id" for part in manifest.look_up)).tolist()
    part = [part for part in manifest.look_up if part.kind == "id"][bucket]
    expected = rows_by_id(run, [doc_id])
    DAMAGE[what](run / FOLDER / part.name)
    with pytest.raises(NoLookUp, match=r"cannot be used.*its index is read whole"):
        by_id(run, manifest, [doc_id])
    assert rows_by_id(run, [doc_id]) == expected != {}
    assert not is_whole(run, part)


def test_every_bit_of_a_bucket_is_held_to_something(tmp_path: Path) -> None:
    make_run(tmp_path / "run", DOCUMENTS[:3])
    manifest = add_look_ups(tmp_path / "run")
    part = next(part for part in manifest.look_up if part.kind == "id")
    path, wanted = tmp_path / "run" / FOLDER / part.name, [d.doc_id for d in DOCUMENTS[:3]]
    whole = path.read_bytes()
    for at in range(0, len(whole), 3):
        data = bytearray(whole)
        data[at] ^= 1 << random.Random(at).randrange(8)
        path.write_bytes(data)
        try:
            found = by_id(tmp_path / "run", manifest, [*wanted, "0" * 32])
        except NoLookUp:
            continue
        assert list(found) == wanted or set(found) == set(wanted), at


def _swapped(run: Path) -> None:
    first, second = run / "shards/shard-000000.tar", run / "shards/shard-000001.tar"
    first.rename(run / "x")
    second.rename(first)
    (run / "x").rename(second)


STALE: dict[str, Callable[[Path], object]] = {
    "other documents in the tars": _swapped,
    "no tar": lambda run: shutil.rmtree(run / "shards"),
    "a bit of a document": lambda run: flipped(run / "shards/shard-000000.tar", 700),
}


@pytest.mark.parametrize("what", STALE)
def test_what_is_found_is_held_to_the_document(run: Path, what: str) -> None:
    STALE[what](run)
    with pytest.raises(NoLookUp, match="cannot be used"):
        by_url(run, read_manifest(run), [DOCUMENTS[0].url])


def hostile(manifest: RunManifest) -> Iterator[RunManifest]:
    """Manifests whose entries of buckets lead elsewhere."""
    for values in (
        {"bytes": 2**62},
        {"bytes": -5},
        {"footer": 0},
        {"footer": -8},
        {"footer": 2**40},
        {"name": "../manifest.json"},
        {"name": "/etc/passwd"},
        {"name": "\0"},
        {"footer_sha256": ""},
    ):
        yield replace(manifest, look_up=tuple(replace(part, **values) for part in manifest.look_up))


def test_entries_that_lead_elsewhere_are_of_no_use_and_harm_nothing(finished: Path) -> None:
    for manifest in hostile(read_manifest(finished)):
        with pytest.raises(NoLookUp):
            by_id(finished, manifest, [DOCUMENTS[0].doc_id])


def test_many_rows_are_found_in_the_groups_that_hold_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_up, "ROWS_PER_GROUP", 16)
    urls = [f"http://pages.example/{number}" for number in range(300)]
    make_run(tmp_path / "run", [*DOCUMENTS[:2], *(document(100 + n, []) for n in range(300))], per_shard=400)
    manifest = add_look_ups(tmp_path / "run")
    part = manifest.look_up[0]
    assert pq.read_metadata(tmp_path / "run" / FOLDER / part.name).num_row_groups > 15
    read: list[int] = []
    ranged = look_up.read_bytes_at
    monkeypatch.setattr(look_up, "read_bytes_at", lambda *of: (read.append(of[2]), ranged(*of))[1])
    found = by_url(tmp_path / "run", manifest, [DOCUMENTS[1].url])
    assert [d.record.doc_id for d in found[DOCUMENTS[1].url]] == [DOCUMENTS[1].doc_id]
    assert len(read) == 2
    read.clear()
    assert by_url(tmp_path / "run", manifest, ["http://pages.example/no"]) == {}
    assert len(read) <= 2
    assert len(urls) == 300


def test_equal_rows_give_equal_bytes_and_an_equal_fingerprint_in_any_order(finished: Path, tmp_path: Path) -> None:
    rows = rows_of(pq.read_table(finished / "index.parquet"), "url")
    shuffled = rows.take(random.Random(1).sample(range(rows.num_rows), rows.num_rows))
    write_look_up(rows, tmp_path / "a")
    write_look_up(shuffled, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert fingerprint(rows) == fingerprint(shuffled) != fingerprint(rows.slice(1))
    parts = [fingerprint(rows.slice(0, 5)), fingerprint(rows.slice(5))]
    assert sum(parts) % 2**64 == fingerprint(rows)


def test_a_hash_is_the_beginning_of_the_sha256_and_buckets_are_ranges_of_it() -> None:
    digest = hashlib.sha256(b"http://a.example/").hexdigest()
    assert key_hashes(["http://a.example/"]).tolist() == [int(digest[:16], 16)]
    hashes = np.array([0, 2**62 - 1, 2**62, 2**64 - 1], np.uint64)
    assert bucket_of(hashes, 4).tolist() == [0, 0, 1, 3]
    assert bucket_of(hashes, 1).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("name", ["shard-1.tar", "../shard-000001.tar", "shard-000001.tar.gz", "shard-0000001.tar", ""])
def test_an_index_with_names_of_other_files_is_none(name: str) -> None:
    columns = {"shard": [name], "offset": [0], "length": [512], "url": ["u"], "doc_id": ["d"]}
    with pytest.raises(ValueError, match="is no name of a shard"):
        rows_of(pa.table(columns | {"content_sha256": ["0" * 64]}), "url")


def test_kinds_are_columns_of_the_index_and_no_key_is_written_down() -> None:
    assert set(KEYS.values()) <= set(Document.__dataclass_fields__)
    assert not any(pa.types.is_string(field.type) for field in SCHEMA)
