"""What models measure of images becomes scores of these images; bounds let them leave, and all of it is counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import RunConfig, ScoringConfig
from obelics_pipeline.core.document import Document, ImageNode, image_metadata
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.core.unit import digest
from obelics_pipeline.models.picture_scores.columns import columns as columns_of
from obelics_pipeline.stages.score.document_models import located, model_columns
from obelics_pipeline.stages.score.identity import check_bounds, models_identity
from obelics_pipeline.stages.score.picture_bounds import PictureBounds
from obelics_pipeline.stages.score.stage import decide_unit, decide_units, measure_unit, measure_units
from obelics_pipeline.stages.score.trial import processes
from tests.stages.score.test_stage import assembled, document

MARK = "picture_watermark"
CLASSIFIER = {"model": "m.onnx", "label": "watermark"}


class ByName:
    """A scorer whose images are called by their number: w90 has 0.9, none cannot be seen, nan has no number."""

    def __init__(self) -> None:
        self.calls = 0

    def score(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float | None]]:
        self.calls += 1
        found = []
        for one in documents:
            for image in one.images():
                name = image.unformatted_src
                if name not in ("none", "unfetched"):
                    image.scores[MARK] = float("nan") if name == "nan" else int(name[1:]) / 100
            found.append(columns_of(MARK, [image.scores.get(MARK) for image in one.images()]))
        return found


def run_config(bounds: Mapping[str, Any] | None = None, **score: Any) -> RunConfig:
    images = {"min_per_document": 1, "max_per_document": 3}
    values = {"picture_classifiers": {"watermark": CLASSIFIER}, "image": {MARK: bounds} if bounds else {}, **score}
    return RunConfig.model_validate({"images": images, "score": values})


def fetched(one: Document) -> Document:
    for image in one.images():
        image.sha256 = None if image.unformatted_src == "unfetched" else f"{image.unformatted_src:0>64}"
    return one


def corpus() -> list[Document]:
    names = (["w0", "w50"], ["w10", "w90"], ["w51", "w99"], ["none", "w0", "unfetched"], ["nan", "w0", "none"])
    return [fetched(document(row, "text", images)) for row, images in enumerate(names)]


def decided(folder: Path, scorer: ByName, config: RunConfig) -> tuple[Manifest, Manifest, list[Document]]:
    from obelics_pipeline.core.commit import once

    of = assembled(folder / "assembled", corpus())
    [unit] = measure_units([of], "models")
    score = config.score
    places: dict[str, Any] = {
        "document_folder": folder / "assembled", "columns": model_columns(config.models),
        "measures": score.picture_measures,
    }  # fmt: skip
    measured = once(
        unit, scorer, folder=folder / "scores", work=lambda u, s: measure_unit(u, s, folder=folder / "scores", **places)
    )
    pictures = PictureBounds.of(config)
    [unit] = decide_units([of], [measured], score.document, None, pictures)
    manifest = decide_unit(
        unit,
        folder=folder / "scored",
        score_folder=folder / "scores",
        bounds=score.document,
        pictures=pictures,
        **places,
    )
    return measured, manifest, list(read_documents(manifest.path(folder / "scored", "data")))


def test_each_image_has_its_score_or_a_reason_that_is_counted(tmp_path: Path) -> None:
    measured, manifest, found = decided(tmp_path, ByName(), run_config())
    scores = [[image.scores.get(MARK) for image in nodes_of(one)] for one in found]
    assert scores == [[0.0, 0.5], [0.1, 0.9], [0.51, 0.99], [None, 0.0, None], [None, 0.0, None]]
    assert measured.ledgers[MARK].to_json() == {
        "in": 12, "kept": 8, "dropped": {}, "failed": {"not_fetched": 1, "not_finite": 1, "undecodable": 2},
    }  # fmt: skip
    assert [one.reason for one in found] == [None, None, None, None, "not_finite"]
    assert manifest.ledgers["documents"].failed == {"not_finite": 1}
    assert image_metadata(found[1].images()[1], "http://a/")[MARK] == 0.9
    assert MARK not in image_metadata(found[3].images()[0], "http://a/")
    assert found[1].scores[f"{MARK}_max"] == 0.9 and found[3].scores[f"{MARK}_images"] == 1.0


def nodes_of(one: Document) -> list[ImageNode]:
    return [node for node in one.nodes if isinstance(node, ImageNode)]


def test_images_outside_the_bounds_leave_and_then_the_document_is_decided(tmp_path: Path) -> None:
    _, manifest, found = decided(tmp_path, ByName(), run_config({"max": 0.5}))
    assert [one.reason for one in found] == [None, None, "image_count", None, "not_finite"]
    assert [[image.reason for image in nodes_of(one)] for one in found[:4]] == [
        [None, None], [None, MARK], [MARK, MARK], [None, None, None],
    ]  # fmt: skip
    images = manifest.ledgers["images"]
    assert images.to_json() == {
        "in": 12, "kept": 6, "dropped": {"document_dropped": 3, MARK: 3}, "failed": {}
    }  # fmt: skip
    assert images.balanced() and manifest.ledgers["documents"].balanced()


def test_a_bound_that_moves_measures_nothing_anew(tmp_path: Path) -> None:
    scorer = ByName()
    _, first, _ = decided(tmp_path, scorer, run_config({"max": 0.5}))
    _, second, found = decided(tmp_path, scorer, run_config({"min": 0.5}))
    _, third, _ = decided(tmp_path, scorer, run_config({"max": 0.5}))
    assert scorer.calls == 1
    assert first.unit == third.unit != second.unit
    assert [one.reason for one in found] == [None, None, None, None, "not_finite"]


def test_documents_have_bounds_too(tmp_path: Path) -> None:
    _, _, found = decided(tmp_path, ByName(), run_config(document={f"{MARK}_mean": {"max": 0.3}}))
    assert [one.reason for one in found] == [None, f"{MARK}_mean", f"{MARK}_mean", None, "not_finite"]


def test_without_models_of_pictures_units_and_files_are_as_they_were(tmp_path: Path) -> None:
    assert PictureBounds.of(RunConfig()) is None
    assert RunConfig().score.picture_measures == ()
    assert models_identity(RunConfig().models) == digest({"flamingo": None, "similarity": None})
    assert not {"picture_classifiers", "aesthetic", "image"} & RunConfig().score.model_dump().keys()
    of = assembled(tmp_path, corpus())
    [unit] = measure_units([of], "models")
    measured = measure_unit(unit, ByName(), folder=tmp_path / "s", document_folder=tmp_path, columns=[])
    assert measured.ledgers == {}
    assert pq.read_schema(measured.path(tmp_path / "s", "data")).names == ["doc_id", "similarity", "unsafe"]
    assert decide_units([of], [measured], {}) == decide_units([of], [measured], {}, None, None)


def test_columns_have_the_names_that_the_config_gives() -> None:
    config = run_config(aesthetic={"head": "h", "embedding": {"model": "m", "weights": "w"}})
    assert config.score.picture_measures == (MARK, "picture_aesthetic")
    wanted = [f"{name}_{what}" for name in config.score.picture_measures for what in ("images", "mean", "min", "max")]
    assert model_columns(config.models) == wanted
    assert processes(run_config(aesthetic=None).models) == processes(RunConfig().models)
    named = {"watermark": CLASSIFIER | {"device": "cuda:1"}}
    assert processes(run_config(picture_classifiers=named).models) == 1


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"score": {"image": {MARK: {"sample": [[0, 1]]}}}}, "documents are sampled, images are not"),
        ({"score": {"picture_classifiers": {"aesthetic": CLASSIFIER}}}, "aesthetic"),
        ({"score": {"picture_classifiers": {"Water mark": CLASSIFIER}}}, "match pattern"),
        ({"score": {"picture_classifiers": {"w": {"model": "m"}}}}, "label"),
        ({"fetch": {"enabled": False}, "score": {"picture_classifiers": {"w": CLASSIFIER}}}, "fetch.enabled"),
        ({"filters": {"paragraph": {"picture_w": {}}}}, "columns that begin with picture_ are of images"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        RunConfig.model_validate(values)


def test_bounds_of_what_nobody_measures_are_refused() -> None:
    bounds = {"image": {"picture_watermarks": {"max": 0.5}}}
    with pytest.raises(
        UserError, match=r"score\.image\.picture_watermarks: no named .* set score\.picture_classifiers"
    ):
        check_bounds(ScoringConfig.model_validate(bounds))
    with pytest.raises(UserError, match=r"did you mean picture_watermark\?; valid are picture_watermark"):
        check_bounds(ScoringConfig.model_validate(bounds | {"picture_classifiers": {"watermark": CLASSIFIER}}))
    check_bounds(run_config({"max": 0.5}).models)
    with pytest.raises(UserError, match=r"score\.aesthetic=\{head: FILE"):
        check_bounds(ScoringConfig.model_validate({"document": {"picture_aesthetic_mean": {"min": 5}}}))


def test_a_model_counts_by_its_content_and_its_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name in ("m.onnx", "head.pth", "clip.pt"):
        (tmp_path / name).write_bytes(name.encode())
    monkeypatch.chdir(tmp_path)
    liked = {"head": "head.pth", "embedding": {"model": "ViT-L-14", "weights": "clip.pt"}}
    for change in ({}, {"batch": 3}, {"label": "clean"}, {"output": "sigmoid"}):
        found.append(models_identity(run_config(picture_classifiers={"watermark": CLASSIFIER | change}).models))
    assert found[0] == found[1] and len(set(found)) == 3
    for change in ({}, {"batch": 3}, {"activation": "relu"}):
        found.append(models_identity(run_config(aesthetic=liked | change).models))
    assert found[4] == found[5] and len(set(found)) == 5
    (tmp_path / "head.pth").write_bytes(b"other")
    assert models_identity(run_config(aesthetic=liked).models) not in found
    there = located(run_config(aesthetic=liked).models)
    assert there.aesthetic is not None and there.aesthetic.embedding.model == "ViT-L-14"
    paths = (there.picture_classifiers["watermark"].model, there.aesthetic.head, there.aesthetic.embedding.weights)
    assert paths == tuple(str(tmp_path / name) for name in ("m.onnx", "head.pth", "clip.pt"))
    (tmp_path / "head.pth").unlink()
    with pytest.raises(UserError, match=r"score\.aesthetic\.head: head\.pth cannot be read"):
        models_identity(run_config(aesthetic=liked).models)
