"""The shard stage: kept documents meet their images, and are dealt out to tars by size."""

import hashlib
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.commit import Attempt, Manifest, sweep
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode, make_doc_id
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.shards.index import read_index
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.filters.rule import paragraph_score
from obelics_pipeline.stages.shard.stage import (
    assemble_unit,
    assemble_units,
    plan_tars,
    planned_bytes,
    shard_entries,
    tar_unit,
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

    def tars(self, assembled: list[Manifest], left_out: Mapping[str, Sequence[int]] | None = None) -> list[Manifest]:
        units = plan_tars(assembled, self.folder / "assembled", self.config, ["word_count"], left_out or {})
        return [
            tar_unit(
                unit,
                folder=self.folder / "shards",
                assembled_folder=self.folder / "assembled",
                read_image=lambda sha256: b"image",
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
    left_out = {assembled[0].unit: [0, 3, 4, 7], assembled[1].unit: [1]}
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
    assert planned_bytes(3000, "webdataset") == 3000
    assert planned_bytes(3000, "open_flamingo") == 4000
