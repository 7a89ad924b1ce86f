"""A run whose tars are in open_flamingo's form is held to its word as another is."""

import base64
import hashlib
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.shards.record import record_size
from obelics_pipeline.core.shards.tar import ShardWriter
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.stages.shard.check_flamingo import as_loaded
from obelics_pipeline.stages.shard.export_flamingo import export_flamingo
from obelics_pipeline.stages.shard.validate import problems

from .runs import document, make_run, picture

DOCUMENTS = [document(i) for i in (0, 1, 4)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder / "run", DOCUMENTS)
    export_flamingo(folder / "run", folder / "out")
    return folder / "out"


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def said(run: Path, change: Callable[[dict[str, Any]], object], more: tuple[tuple[str, bytes], ...] = ()) -> str:
    """What is found once the first document is changed, and its tar, index and manifest made to fit."""
    path, index, manifest = run / "shards/shard-000000.tar", run / "index.parquet", run / "manifest.json"
    with tarfile.open(path) as tar:
        members = [(info.name.removesuffix(".json"), tar.extractfile(info).read()) for info in tar]  # type: ignore[union-attr]
    value = json.loads(members[0][1])
    change(value)
    members[0] = members[0][0], to_json(value).encode()
    rows = pq.read_table(index)
    placed = []
    with ShardWriter(path) as writer:
        for number, (key, data) in enumerate(members):
            placed.append(writer.append(key, [("json", data), *(more if number == 0 else ())]))
    found = [row | {"offset": p.offset, "length": p.length} for row, p in zip(rows.to_pylist(), placed, strict=True)]
    pq.write_table(pa.Table.from_pylist(found, rows.schema), index)
    stated = json.loads(manifest.read_text())
    stated["shards"][0] |= {"sha256": file_sha256(path), "bytes": path.stat().st_size}
    stated["counts"]["bytes"] = path.stat().st_size
    stated["index"] |= {"sha256": file_sha256(index), "bytes": index.stat().st_size}
    manifest.write_text(json.dumps(stated))
    lines = problems(run)
    assert all("\n" not in line for line in lines)
    return "\n".join(lines)


def swap(value: dict[str, Any]) -> None:
    one, two = value["image_map"]["_!_IMAGE1_!_"], value["image_map"]["_!_IMAGE2_!_"]
    value["image_map"] |= {"_!_IMAGE1_!_": two, "_!_IMAGE2_!_": one}


def test_as_written_it_is_valid(finished: Path, run: Path) -> None:
    assert problems(finished) == []
    assert said(run, lambda value: None) == ""


def test_swapped_images_are_found(run: Path) -> None:
    assert "its content is not what the index has the sha256 of" in said(run, swap)


def test_another_picture_is_found(run: Path) -> None:
    other = base64.b64encode(picture("png", 15)).decode()
    found = said(run, lambda value: value["image_map"]["_!_IMAGE1_!_"].update(base64_image=other))
    assert "is png of 160 x 200, its metadata say" in found or "its content is not" in found


def test_a_picture_that_does_not_decode_is_found(run: Path) -> None:
    cut = base64.b64encode(picture("jpeg", 1)[:100]).decode()
    assert "cannot be decoded" in said(run, lambda value: value["image_map"]["_!_IMAGE1_!_"].update(base64_image=cut))


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.update(example=v["example"].replace("_!_IMAGE1_!_", "", 1) + " _!_IMAGE1_!_"),  # another place
        lambda v: v.update(example=v["example"].replace("_!_IMAGE1_!_", "", 1)),  # no mark
        lambda v: v.update(example=v["example"] + " _!_IMAGE9_!_"),  # a mark too many
        lambda v: v.update(example=v["example"].replace("Paragraph", "paragraph")),  # other words
    ],
)
def test_what_the_trainer_would_read_otherwise_is_found_though_the_record_is_right(
    run: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    assert "open_flamingo's loader would read other texts, images or another order" in said(run, change)


def test_a_record_that_is_not_as_promised_is_found(run: Path) -> None:
    assert "texts, images, files and metadata differ in length" in said(run, lambda v: v["texts"].append("more"))
    assert "doc_id is 'x'" in said(run, lambda v: v.update(doc_id="x"))


def test_what_is_not_the_form_is_found(run: Path) -> None:
    assert "its JSON must have the keys" in said(run, lambda v: v.pop("is_gpt"))


def test_images_must_be_numbered_from_one(run: Path) -> None:
    assert "in this order" in said(run, lambda v: v.update(image_map={"a": {}}))


def test_a_member_beside_the_json_is_found(run: Path) -> None:
    assert "a member beside its JSON" in said(run, lambda v: None, (("x.jpg", picture("jpeg", 1)),))


def test_marks_are_read_in_order_whatever_their_numbers() -> None:
    one, two = hashlib.sha256(b"1").hexdigest(), hashlib.sha256(b"2").hexdigest()
    found = as_loaded("a _!_IMAGE2_!_ b _!_IMAGE1_!_", (b"1", b"2"))
    assert found == [("text", "a"), ("image", one), ("text", "b"), ("image", two)]


def test_a_document_takes_a_header_and_whole_blocks(finished: Path) -> None:
    row = pq.read_table(finished / "index.parquet").to_pylist()[0]
    with tarfile.open(finished / "shards/shard-000000.tar") as tar:
        assert row["length"] == record_size([tar.getmembers()[0].size])
