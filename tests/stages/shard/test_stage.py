"""The shard stage: kept documents meet their images, and are dealt out to tars by size."""

import hashlib
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.commit import Attempt, Manifest, sweep
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.sharding import Format
from obelics_pipeline.core.document import Document, ImageNode, TextNode, make_doc_id
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.shards.index import read_index
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.filters.rule import paragraph_score
from obelics_pipeline.stages.shard.stage import (
    NO_ROWS,
    SIZES,
    Rows,
    assemble_unit,
    assemble_units,
    plan_tars,
    planned_bytes,
    shard_entries,
    tar_unit,
    unpacked,
)

SHA = hashlib.sha256(b"image").hexdigest()


@dataclass(frozen=True)
class Answer:
    status: str = "ok"
    reason: str | None = None
    sha256: str | None = None
    n_bytes: int | None = 5
    format: str | None = "jpeg"
    width: int | None = 300
    height: int | None = 300
    phash: str | None = None
    duplicate_of: str | None = None
    quality: Mapping[str, float] | None = None
    pack: str | None = None
    offset: int | None = None


def url(name: str, row: int) -> str:
    return f"http://a.example/{name}-{row}.jpg"


def extracted(folder: Path, name: str, rows: int, dropped: Sequence[int] = ()) -> Manifest:
    """An extracted unit with a picture a document."""
    with Attempt(folder, Unit("extract", name, "u")) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), ["word_count"], []) as writer:
            for row in range(rows):
                nodes = [TextNode(f"text {row} of {name}"), ImageNode(url(name, row), "/x.jpg")]
                reason = "language" if row in dropped else None
                scores = {"word_count": float(row)}
                document = Document(make_doc_id(name, row), "http://a.example/", name, row, 1, nodes, scores=scores)
                document.reason = reason
                writer.write(document)
        return attempt.commit([])


class Stage:
    """The stage in one folder, over given units and answers by URL."""

    def __init__(self, folder: Path, units: list[Manifest], failed: Sequence[str] = (), target: int = 10_000) -> None:
        self.folder, self.units, self.failed = folder, units, set(failed)
        self.config = RunConfig.model_validate({"shard": {"target_bytes": target}})

    def answers(self, files: Sequence[str], _overused: Sequence[str]) -> Mapping[str, Any]:
        name = files[0] if files else ""
        found = {}
        for row in range(100):
            bad = url(name, row) in self.failed
            found[url(name, row)] = Answer("failed", "http_404") if bad else Answer(sha256=SHA)
        return found

    def assemble(self) -> list[Manifest]:
        files = {m.unit: [m.unit.removeprefix("u-")] for m in self.units}
        answers = Partitions(self.folder, files, {m.unit: repr(sorted(self.failed)) for m in self.units})
        units = assemble_units(self.units, answers, Partitions(self.folder), self.config)
        return [
            assemble_unit(
                unit,
                folder=self.folder / "assembled",
                document_folder=self.folder,
                config=self.config,
                read_answers=self.answers,
                score=paragraph_score,
            )
            for unit in units
        ]

    def tars(self, assembled: list[Manifest], left_out: Mapping[str, Rows] | None = None) -> list[Manifest]:
        units = plan_tars(
            assembled, self.folder / "assembled", self.config, ["word_count"], in_order(assembled, left_out or {})
        )
        return [
            tar_unit(
                unit,
                folder=self.folder / "shards",
                assembled_folder=self.folder / "assembled",
                with_images=lambda documents: ((document, lambda sha256: b"image") for document in documents),
            )
            for unit in units
        ]


def placed(stage: Stage, tars: list[Manifest]) -> list[tuple[str, int]]:
    """(WARC, row) of every document in the order of the index."""
    rows = [row for m in tars for row in read_index(m.path(stage.folder / "shards", "index"))]
    return [(row["warc_filename"], row["warc_record_offset"]) for row in rows]


def test_kept_documents_reach_the_tars_in_order_each_once(tmp_path: Path) -> None:
    units = [extracted(tmp_path, "one", 7, dropped=[2]), extracted(tmp_path, "two", 5)]
    stage = Stage(tmp_path, units)
    tars = stage.tars(stage.assemble())
    expected = [("one", row) for row in range(7) if row != 2] + [("two", row) for row in range(5)]
    assert placed(stage, tars) == expected
    assert [m.files["data"]["name"] for m in tars] == [f"shard-{i:06d}.tar" for i in range(len(tars))]
    assert len(tars) > 1
    assert sum(entry.documents for entry in shard_entries(tars)) == 11


def test_a_document_whose_images_failed_is_dropped_and_counted(tmp_path: Path) -> None:
    stage = Stage(tmp_path, [extracted(tmp_path, "one", 4)], failed=[url("one", 1), url("one", 3)])
    [manifest] = stage.assemble()
    assert manifest.ledgers["documents"].to_json() == {"in": 4, "kept": 2, "dropped": {"image_count": 2}, "failed": {}}
    assert manifest.ledgers["images"].to_json() == {"in": 4, "kept": 2, "dropped": {}, "failed": {"http_404": 2}}
    assert placed(stage, stage.tars([manifest])) == [("one", 0), ("one", 2)]


def test_a_document_is_never_cut_and_a_tar_ends_once_it_is_full(tmp_path: Path) -> None:
    for target, tars in ((1, 12), (10**9, 1)):
        folder = tmp_path / str(target)
        folder.mkdir()
        stage = Stage(folder, [extracted(folder, "one", 6), extracted(folder, "two", 6)], target=target)
        assert len(stage.tars(stage.assemble())) == tars


def test_only_what_an_answer_touches_is_done_again(tmp_path: Path) -> None:
    units = [extracted(tmp_path, "one", 5), extracted(tmp_path, "two", 5)]
    before = Stage(tmp_path, units, target=10**9).assemble()
    again = Stage(tmp_path, units, target=10**9).assemble()
    assert again == before
    changed = Stage(tmp_path, units, failed=[url("two", 0)], target=10**9).assemble()
    assert changed[0].files["data"]["sha256"] == before[0].files["data"]["sha256"]
    assert changed[1].files["data"]["sha256"] != before[1].files["data"]["sha256"]


def test_a_new_plan_replaces_a_tar_of_the_same_name(tmp_path: Path) -> None:
    units = [extracted(tmp_path, "one", 6)]
    stage = Stage(tmp_path, units, target=10**9)
    [old] = stage.tars(stage.assemble())
    narrower = Stage(tmp_path, units, failed=[url("one", 0)], target=10**9)
    assembled = narrower.assemble()
    sweep(tmp_path / "shards", [])
    [new] = narrower.tars(assembled)
    assert new.files["data"]["name"] == old.files["data"]["name"]
    assert new.files["data"]["sha256"] != old.files["data"]["sha256"]
    assert placed(narrower, [new]) == [("one", row) for row in range(1, 6)]


def test_no_document_makes_no_tar(tmp_path: Path) -> None:
    stage = Stage(tmp_path, [extracted(tmp_path, "one", 3, dropped=[0, 1, 2])])
    assert stage.tars(stage.assemble()) == []


def test_equal_documents_make_equal_tars(tmp_path: Path) -> None:
    shas = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        stage = Stage(folder, [extracted(folder, "one", 9)])
        shas.append([m.files["data"]["sha256"] for m in stage.tars(stage.assemble())])
    assert shas[0] == shas[1]


def test_a_duplicate_is_in_no_tar_and_its_neighbours_are(tmp_path: Path) -> None:
    stage = Stage(tmp_path, [extracted(tmp_path, "one", 8), extracted(tmp_path, "two", 2)], target=1)
    assembled = stage.assemble()
    left_out = {assembled[0].unit: np.array([0, 3, 4, 7]), assembled[1].unit: np.array([1])}
    tars = stage.tars(assembled, left_out)
    assert placed(stage, tars) == [("one", 1), ("one", 2), ("one", 5), ("one", 6), ("two", 0)]
    assert sum(m.notes["documents"] for m in tars) == 5
    whole = Stage(tmp_path / "whole", stage.units)
    whole.folder = tmp_path
    whole.config = RunConfig.model_validate({"shard": {"target_bytes": 10**6}})
    assert placed(whole, whole.tars(assembled, left_out)) == placed(stage, tars)


def test_tars_in_open_flamingos_form_hold_the_same_documents_and_are_redone_where_the_form_changes(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, [extracted(tmp_path, "one", 7)], target=10**6)
    assembled = stage.assemble()
    plain = stage.tars(assembled)
    before = placed(stage, plain)
    stage.config = RunConfig.model_validate({"shard": {"target_bytes": 10**6, "format": "open_flamingo"}})
    assert [m.unit for m in stage.assemble()] == [m.unit for m in assembled]  # only the tars are written anew
    [tar] = stage.tars(assembled)
    assert placed(stage, [tar]) == before
    assert tar.unit != plain[0].unit
    with tarfile.open(tar.path(stage.folder / "shards", "data")) as opened:
        assert all(info.name.endswith(".json") for info in opened)


def test_base64_is_reckoned_with_where_a_tar_is_full() -> None:
    sizes = np.array([3000, 4])
    assert planned_bytes(sizes, "webdataset").tolist() == [3000, 4]
    assert planned_bytes(sizes, "open_flamingo").tolist() == [4000, 5]


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9), st.booleans()), max_size=30), max_size=5),
    st.integers(1, 40),
    st.sampled_from(get_args(Format)),
)
@settings(max_examples=200)
def test_tars_are_planned_as_by_a_walk_over_the_rows(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[int, int, bool]]], target: int, form: Format
) -> None:
    """A file has a row for each triple: how far it is from the row before, its bytes, and whether it is left out."""
    folder = tmp_path_factory.getbasetemp() / "planned"
    folder.mkdir(exist_ok=True)
    config = RunConfig.model_validate({"shard": {"target_bytes": target, "format": form}})
    assembled, left_out = [], {}
    for number, file in enumerate(files):
        rows = np.cumsum([step for step, _, _ in file], dtype=np.int64) - 1
        table = pa.table([rows, pa.array([size for _, size, _ in file], pa.int64())], SIZES)
        pq.write_table(table, folder / f"{number}.parquet")
        about = {"data": {"sha256": f"{number:064}"}, "sizes": {"name": f"{number}.parquet"}}
        assembled.append(Manifest(f"u-{number}", "assemble", about, {}, {}))
        gone = np.array([out for _, _, out in file], bool)
        if gone.any():
            left_out[f"u-{number}"] = rows[gone][::-1]
    units = plan_tars(assembled, folder, config, ["word_count"], in_order(assembled, left_out))
    walked = walk(assembled, folder, target, form, left_out)
    spans = json.loads(json.dumps([unit.payload["spans"] for unit in units]))
    for span in (span for of_tar in spans for span in of_tar):
        span["without"] = (unpacked(span["without"]) + span["start"]).tolist()
    assert spans == walked
    assert len({unit.name for unit in units}) == len(units)


def in_order(assembled: Sequence[Manifest], left_out: Mapping[str, Rows]) -> list[Rows]:
    """The rows that are left out of each unit."""
    return [left_out.get(m.unit, NO_ROWS) for m in assembled]


def test_what_a_tar_leaves_out_takes_a_bit_a_row(tmp_path: Path) -> None:
    """Row numbers of a crawl's duplicates took 20 GB in the driver as Python's integers."""
    rows = 100_000
    pq.write_table(pa.table([np.arange(rows), np.ones(rows, np.int64)], SIZES), tmp_path / "0.parquet")
    about = {"data": {"sha256": "0" * 64}, "sizes": {"name": "0.parquet"}}
    gone = np.arange(1, rows, 3)
    assembled = [Manifest("u-0", "assemble", about, {}, {})]
    (unit,) = plan_tars(assembled, tmp_path, RunConfig(), ["word_count"], [gone])
    (span,) = unit.payload["spans"]
    assert (unpacked(span["without"]) + span["start"]).tolist() == gone.tolist()
    assert len(span["without"]) < rows / 5


def walk(
    assembled: Sequence[Manifest], folder: Path, target: int, form: Format, left_out: Mapping[str, Rows]
) -> list[list[dict[str, Any]]]:
    """The spans of each tar, row after row."""
    tars: list[list[dict[str, Any]]] = [[]]
    filled = 0
    for manifest in assembled:
        table = pq.read_table(manifest.path(folder, "sizes"))
        gone = {int(row) for row in left_out.get(manifest.unit, ())}
        for row, size in zip(table["row"].to_pylist(), table["bytes"].to_pylist(), strict=True):
            if row in gone:
                continue
            spans = tars[-1]
            if not spans or spans[-1]["unit"] != manifest.unit:
                sha256 = manifest.files["data"]["sha256"]
                spans.append({"unit": manifest.unit, "sha256": sha256, "start": row, "without": [], "stop": row})
            span = spans[-1]
            span["without"] += sorted(r for r in gone if span["stop"] <= r < row)
            span["stop"] = row + 1
            filled += size if form == "webdataset" else size * 4 // 3
            if filled >= target:
                tars.append([])
                filled = 0
    return tars if tars[-1] else tars[:-1]
