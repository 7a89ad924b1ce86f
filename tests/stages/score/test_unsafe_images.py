"""What a classifier found decides on images, or on documents; nothing is measured anew, and all of it is counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import ClassifierConfig, ModelsConfig, RunConfig, ScoringConfig, load_config
from obelics_pipeline.core.document import Document, ImageNode, image_metadata
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.stages.score.document_models import LoadDocumentModels, located, model_columns
from obelics_pipeline.stages.score.identity import check_bounds, models_identity
from obelics_pipeline.stages.score.stage import count, decide_unit, decide_units, measure_unit, measure_units
from obelics_pipeline.stages.score.unsafe_images import Screen
from tests.stages.score.test_stage import assembled, document

COLUMNS = ["unsafe_images_measured", "unsafe_image_max", "unsafe_image_mean"]
BULLSEYE = Path(__file__).parents[2] / "models" / "unsafe_images" / "bullseye.onnx"


class ByName:
    """A scorer whose images are called by their score: u90 is unsafe at 0.9, and none is one that it cannot see."""

    def __init__(self) -> None:
        self.calls = 0

    def score(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float | None]]:
        self.calls += 1
        for one in documents:
            for image in one.images():
                image.unsafe = int(image.unformatted_src[1:]) / 100 if image.unformatted_src != "none" else None
        return [dict.fromkeys(COLUMNS, 0.5) for _ in documents]


def run_config(**rule: Any) -> RunConfig:
    images = {"min_per_document": 1, "max_per_document": 3}
    return RunConfig.model_validate({"image_safety": {"classifier": {"model": "m.onnx", **rule}}, "images": images})


def decided(
    folder: Path, documents: Sequence[Document], scorer: ByName, config: RunConfig
) -> tuple[Manifest, list[Document]]:
    of = assembled(folder / "assembled", documents)
    [unit] = measure_units([of], "models")
    places = {"document_folder": folder / "assembled", "columns": COLUMNS}
    from obelics_pipeline.core.commit import once

    measured = once(
        unit, scorer, folder=folder / "scores", work=lambda u, s: measure_unit(u, s, folder=folder / "scores", **places)
    )
    screen = Screen.of(config)
    [unit] = decide_units([of], [measured], config.score.document, screen)
    manifest = decide_unit(
        unit,
        folder=folder / "scored",
        score_folder=folder / "scores",
        bounds=config.score.document,
        screen=screen,
        **places,
    )
    return manifest, list(read_documents(manifest.path(folder / "scored", "data")))


def corpus() -> list[Document]:
    return [
        document(0, "clean", ["u0", "u50"]),
        document(1, "mixed", ["u10", "u90"]),
        document(2, "unsafe", ["u51", "u99"]),
        document(3, "unseen", ["none", "u0"]),
        document(4, "alone", ["none"]),
    ]


def test_unsafe_images_leave_and_then_the_document_is_decided(tmp_path: Path) -> None:
    manifest, found = decided(tmp_path, corpus(), ByName(), run_config(max=0.5))
    assert [d.reason for d in found] == [None, None, "image_count", None, "image_count"]
    assert [[i.unformatted_src for i in d.images()] for d in found] == [["u0", "u50"], ["u10"], [], ["u0"], []]
    reasons = [[(n.reason, n.failed) for n in d.nodes if isinstance(n, ImageNode)] for d in found]
    assert reasons[1:4] == [
        [(None, False), ("unsafe_image", False)],
        [("unsafe_image", False)] * 2,
        [("unclassified", True), (None, False)],
    ]
    assert manifest.ledgers["documents"].to_json() == {"in": 5, "kept": 3, "dropped": {"image_count": 2}, "failed": {}}
    wanted = {"in": 9, "kept": 4, "dropped": {"unsafe_image": 3}, "failed": {"unclassified": 2}}
    assert manifest.ledgers["images"].to_json() == wanted
    assert found[1].images()[0].unsafe == 0.1
    assert image_metadata(found[1].images()[0], "http://a/")["unsafe"] == 0.1


@pytest.mark.parametrize(
    ("over", "left"),
    [
        ("any", [None, "unsafe_images", "unsafe_images", None, "image_count"]),
        ("mean", [None, None, "unsafe_images", None, "image_count"]),
        (0.5, [None, None, "unsafe_images", None, "image_count"]),
        (0.4, [None, "unsafe_images", "unsafe_images", None, "image_count"]),
        (1.0, [None, None, None, None, "image_count"]),
    ],
)
def test_or_the_document_leaves_by_any_the_mean_or_a_share(over: Any, left: list[str | None], tmp_path: Path) -> None:
    manifest, found = decided(tmp_path, corpus(), ByName(), run_config(max=0.5, per="document", over=over))
    assert [d.reason for d in found] == left
    assert manifest.ledgers["documents"].balanced() and manifest.ledgers["images"].balanced()
    assert "unsafe_image" not in manifest.ledgers["images"].dropped


def test_a_threshold_that_moves_measures_nothing_anew(tmp_path: Path) -> None:
    scorer = ByName()
    first, _ = decided(tmp_path, corpus(), scorer, run_config(max=0.5))
    second, found = decided(tmp_path, corpus(), scorer, run_config(max=0.05))
    third, _ = decided(tmp_path, corpus(), scorer, run_config(max=0.5, device="cpu", batch=3))
    assert scorer.calls == 1
    assert first.unit == third.unit != second.unit
    assert [d.reason for d in found] == [None, "image_count", "image_count", None, "image_count"]


def test_bounds_of_documents_come_after_what_left_for_its_images(tmp_path: Path) -> None:
    config = run_config(max=0.5).model_copy(
        update={"score": ScoringConfig.model_validate({"document": {"unsafe_image_mean": {"max": 0.1}}})}
    )
    _, found = decided(tmp_path, corpus(), ByName(), config)
    mean = "unsafe_image_mean"
    assert [d.reason for d in found] == [mean, mean, "image_count", mean, "image_count"]


def test_every_image_that_came_is_counted_once() -> None:
    ledger, one = Ledger("images"), document(0, "x", ["a", "b"])
    one.images()[0].reason = "unsafe_image"
    pictures = [node for node in one.nodes if isinstance(node, ImageNode)]
    for picture in pictures:
        count(picture, one, ledger)
    one.reason = "unsafe_images"
    for picture in pictures:
        count(picture, one, ledger)
    assert ledger.to_json() == {"in": 4, "kept": 1, "dropped": {"document_dropped": 1, "unsafe_image": 2}, "failed": {}}


def test_without_a_classifier_nothing_changes(tmp_path: Path) -> None:
    assert Screen.of(RunConfig()) is None
    assert model_columns(RunConfig().models) == []
    assert models_identity(RunConfig().models) == models_identity(ScoringConfig())
    of = assembled(tmp_path, corpus())
    [unit] = measure_units([of], "models")
    measured = measure_unit(unit, ByName(), folder=tmp_path / "s", document_folder=tmp_path, columns=COLUMNS)
    assert decide_units([of], [measured], {}) == decide_units([of], [measured], {}, None)


def classifier(**more: Any) -> ModelsConfig:
    values = {"model": str(BULLSEYE), "labels": ["safe", "unsafe"], "device": "cpu", **more}
    return load_config("default", [f"image_safety.classifier={values}"]).models


def test_identity_is_of_what_changes_scores(tmp_path: Path) -> None:
    mine = models_identity(classifier())
    for same in ({"max": 0.9}, {"per": "document"}, {"batch": 2}, {"device": "auto"}):
        assert models_identity(classifier(**same)) == mine
    for other in ({"unsafe": ["safe"]}, {"resize": "shortest"}, {"mean": [0, 0, 0]}, {"size": 32}):
        assert models_identity(classifier(**other)) != mine
    copy = tmp_path / "m.onnx"
    copy.write_bytes(BULLSEYE.read_bytes())
    assert models_identity(classifier(model=str(copy))) == mine
    (tmp_path / "preprocessor_config.json").write_text('{"resample": 3}')
    assert models_identity(classifier(model=str(copy))) != mine
    with pytest.raises(UserError, match=r"image_safety\.classifier\.model: .* cannot be read"):
        models_identity(classifier(model=str(tmp_path / "none.onnx")))


def test_its_columns_may_have_bounds_and_it_loads_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    bounds = load_config(
        "default", ["image_safety.classifier={model: m.onnx}", "score.document={unsafe_image_max: {max: 1}}"]
    )
    check_bounds(bounds.models)
    with pytest.raises(UserError, match=r"image_safety\.classifier"):
        check_bounds(bounds.score)
    config = located(classifier())
    assert config.classifier is not None and Path(config.classifier.model).is_absolute()
    monkeypatch.setattr("obelics_pipeline.stages.score.document_models.use_threads", None)  # torch's
    models = LoadDocumentModels(config.model_dump_json(), lambda _image: None)()
    assert models.score([document(0, "x", ["a"])])[0]["unsafe_images_measured"] == 0.0


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ("image_safety.classifier={model: m.onnx, maximum: 1}", "maximum"),
        ("image_safety.classifier={model: m.onnx, max: 2}", "max"),
        ("image_safety.classifier={model: m.onnx, sha256: x}", "sha256"),
        ("image_safety.faces=os", "package.module:function"),
        ("image_safety.report={file: r.jsonl}", "lists is empty"),
        ("image_safety.metadata=some", "strip_location"),
    ],
)
def test_a_config_that_is_wrong_is_one_line(values: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        load_config("default", [values])


def test_a_classifier_without_images_is_refused() -> None:
    with pytest.raises(UserError, match=r"fetch\.enabled"):
        load_config("default", ["image_safety.classifier={model: m.onnx}", "fetch.enabled=false"])
    assert ClassifierConfig(model="m").max == 0.5
