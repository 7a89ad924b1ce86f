"""The score stage: what models measure of a unit becomes columns, bounds of them decide, and nothing is lost."""

import math
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config import ScoringConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode, make_doc_id
from obelics_pipeline.core.storage import location, read_table
from obelics_pipeline.core.tables import DocumentWriter, read_documents
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.score import stage
from obelics_pipeline.stages.score.stage import (
    decide,
    decide_unit,
    decide_units,
    measure_unit,
    measure_units,
)

COLUMNS = ["characters", "images"]


class Counts:
    """A scorer that counts; what it cannot count is null. Images are alike as far as their addresses are long."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def score(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float | None]]:
        self.calls.append(len(documents))
        for document in documents:
            for image in document.images():
                image.similarity = len(image.src) / 100 if "none" not in image.src else None
        return [{"characters": len(d.text()) or None, "images": float(len(d.images()))} for d in documents]


def document(row: int, text: str, images: Sequence[str] = ("a", "b"), language: str = "en") -> Document:
    nodes = [TextNode(text), *(ImageNode(f"http://i.example/{name}.jpg", name) for name in images)]
    scores: dict[str, float | None] = {"word_count": float(row)}
    return Document(make_doc_id("w", row), "http://a.example/", "w", row, 1, nodes, language=language, scores=scores)


def assembled(folder: Path, documents: Sequence[Document], name: str = "u") -> Manifest:
    with Attempt(folder, Unit("assemble", "0" * 16, name)) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), ["word_count"], []) as writer:
            for one in documents:
                writer.write(one)
        return attempt.commit([], {"partition": f"partition-{name}"})


def scored(
    folder: Path, documents: Sequence[Document], bounds: Mapping[str, object], scorer: Counts | None = None
) -> tuple[Manifest, list[Document]]:
    """One unit through the stage: its manifest, and its documents."""
    config = ScoringConfig.model_validate({"document": bounds})
    of = assembled(folder / "assembled", documents)
    [unit] = measure_units([of], "models")
    measured = measure_unit(
        unit, scorer or Counts(), folder=folder / "scores", document_folder=folder / "assembled", columns=COLUMNS
    )
    [unit] = decide_units([of], [measured], config.document)
    manifest = decide_unit(
        unit,
        folder=folder / "scored",
        document_folder=folder / "assembled",
        score_folder=folder / "scores",
        columns=COLUMNS,
        bounds=config.document,
    )
    return manifest, list(read_documents(manifest.path(folder / "scored", "data")))


def test_kept_documents_get_columns_and_dropped_ones_pass_by(tmp_path: Path) -> None:
    gone = document(1, "dropped before")
    gone.reason = "image_count"
    manifest, found = scored(tmp_path, [document(0, "four"), gone, document(2, "", ["none"])], {})
    assert [d.scores for d in found] == [
        {"word_count": 0.0, "characters": 4.0, "images": 2.0},
        {"word_count": 2.0, "characters": None, "images": 1.0},
    ]
    assert [d.reason for d in found] == [None, None]
    assert [[i.similarity for i in d.images()] for d in found] == [[0.22, 0.22], [None]]
    assert manifest.ledgers["documents"].to_json() == {"in": 2, "kept": 2, "dropped": {}, "failed": {}}
    assert manifest.notes == {"partition": "partition-u"}
    sizes = read_table(manifest.path(tmp_path / "scored", "sizes")).to_pylist()
    assert [s["row"] for s in sizes] == [0, 1]


def test_bounds_drop_by_the_column_and_the_ledgers_balance(tmp_path: Path) -> None:
    documents = [
        document(0, "four"),
        document(1, "a longer text"),
        document(2, "the longest text", []),
        document(3, ""),
    ]
    manifest, found = scored(tmp_path, documents, {"characters": {"max": 10}})
    assert [d.reason for d in found] == [None, "characters", "characters", None]  # a null is out of no bounds
    assert manifest.ledgers["documents"].to_json() == {"in": 4, "kept": 2, "dropped": {"characters": 2}, "failed": {}}
    images = manifest.ledgers["images"].to_json()
    assert images == {"in": 6, "kept": 4, "dropped": {"document_dropped": 2}, "failed": {}}
    assert [d.scores["characters"] for d in found] == [4.0, 13.0, 16.0, None]  # what was dropped keeps its scores
    sizes = read_table(manifest.path(tmp_path / "scored", "sizes")).to_pylist()
    assert [s["row"] for s in sizes] == [0, 3]


class Broken(Counts):
    """A scorer that gives no finite number for a document without a letter."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self.number = number

    def score(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float | None]]:
        found = super().score(documents)
        return [{**of_one, "characters": of_one["characters"] or self.number} for of_one in found]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("bounds", [{}, {"characters": {"max": 9}}, {"characters": {"min": 1}}, {"images": {"min": 0}}])
def test_a_score_that_is_not_finite_fails_its_document_whatever_the_bounds(
    tmp_path: Path, number: float, bounds: Mapping[str, object]
) -> None:
    manifest, found = scored(tmp_path, [document(0, "four"), document(1, "")], bounds, Broken(number))
    assert [d.reason for d in found] == [None, "not_finite"]
    assert found[1].scores == {"word_count": 1.0, "characters": None, "images": 2.0}  # readers compare columns
    ledgers = {noun: ledger.to_json() for noun, ledger in manifest.ledgers.items()}
    assert ledgers["documents"] == {"in": 2, "kept": 1, "dropped": {}, "failed": {"not_finite": 1}}
    assert ledgers["images"] == {"in": 4, "kept": 2, "dropped": {"document_dropped": 2}, "failed": {}}
    assert len(read_table(manifest.path(tmp_path / "scored", "sizes"))) == 1


def test_the_first_column_out_of_bounds_is_the_reason_in_the_order_of_the_config() -> None:
    one = document(0, "x")
    one.scores |= {"a": 1.0, "b": 2.0}
    for order in (["a", "b"], ["b", "a"]):
        one.reason = None
        decide(one, ScoringConfig.model_validate({"document": {name: {"min": 5} for name in order}}).document)
        assert one.reason == order[0]


def test_bounds_may_differ_by_language_and_a_sample_is_drawn_by_the_document() -> None:
    bounds = ScoringConfig.model_validate(
        {"document": {"a": {"max": 1, "languages": {"de": {"max": 9}, "fr": None}, "sample": [[0, 0.5]]}}}
    ).document
    reasons: dict[str, list[str | None]] = {}
    for row in range(40):
        for language, score in (("en", 5.0), ("de", 5.0), ("fr", 50.0), ("it", 0.5)):
            one = document(row, "x", language=language)
            one.scores["a"] = score
            decide(one, bounds)
            reasons.setdefault(language, []).append(one.reason)
    assert set(reasons["en"]) == {"a"}
    assert set(reasons["de"]) == set(reasons["fr"]) == {None}
    assert 8 < reasons["it"].count("a") < 32


def test_a_changed_bound_is_another_decision_and_the_same_measurement(tmp_path: Path) -> None:
    of = assembled(tmp_path, [document(0, "four")])
    [unit] = measure_units([of], "models")
    assert measure_units([of], "models") == [unit]
    assert measure_units([of], "others")[0].id != unit.id
    measured = measure_unit(unit, Counts(), folder=tmp_path / "s", document_folder=tmp_path, columns=COLUMNS)
    names = set()
    for bound in (1, 2):
        bounds = ScoringConfig.model_validate({"document": {"images": {"min": bound}}}).document
        names.add(decide_units([of], [measured], bounds)[0].name)
    assert len(names) == 2


def test_a_unit_without_scores_is_not_decided(tmp_path: Path) -> None:
    one, other = (assembled(tmp_path, [document(0, "four")], name) for name in ("a", "b"))
    [_, unit] = measure_units([one, other], "models")
    measured = measure_unit(unit, Counts(), folder=tmp_path / "s", document_folder=tmp_path, columns=COLUMNS)
    assert [u.payload["documents"] for u in decide_units([one, other], [measured], {})] == [other.unit]


def test_a_model_is_given_a_bounded_number_of_documents_and_the_rows_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [document(row, "x" * (row + 1)) for row in range(7)]
    whole, _ = scored(tmp_path / "whole", documents, {})
    monkeypatch.setattr(stage, "CHUNK", 3)
    scorer = Counts()
    cut, found = scored(tmp_path / "cut", documents, {}, scorer)
    assert scorer.calls == [3, 3, 1]
    assert [d.scores["characters"] for d in found] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert cut.files["data"]["sha256"] == whole.files["data"]["sha256"]


def test_scores_of_other_documents_are_refused(tmp_path: Path) -> None:
    of = assembled(tmp_path, [document(0, "four")])
    [unit] = measure_units([of], "models")
    measured = measure_unit(unit, Counts(), folder=tmp_path / "s", document_folder=tmp_path, columns=COLUMNS)
    other = assembled(tmp_path, [document(1, "four")], "other")
    [unit] = decide_units([of], [measured], {})
    wrong = Unit(unit.stage, unit.id, unit.label, unit.payload | {"documents": other.unit})
    with pytest.raises(ValueError, match="at document"):
        decide_unit(
            wrong,
            folder=tmp_path / "d",
            document_folder=tmp_path,
            score_folder=tmp_path / "s",
            columns=COLUMNS,
            bounds={},
        )
    assert committed(tmp_path / "s", measured.unit) == measured


@pytest.mark.parametrize("where", ["local", "memory://run/images"])
def test_images_of_one_store_are_equal_so_that_a_worker_makes_one_model(where: str, tmp_path: Path) -> None:
    folder = tmp_path if where == "local" else location(where)
    ours, copy = RunImages(folder), pickle.loads(pickle.dumps(RunImages(folder)))
    assert ours == copy
    assert hash(ours) == hash(copy)
    assert ours != RunImages(folder / "other")
    assert ours(ImageNode("http://i.example/a.jpg", "a")) is None
