from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.similarity.architecture import MEAN, STD, Preprocessing, architecture
from tests.models.similarity import tiny


def test_the_defaults_are_those_of_open_clip() -> None:
    from open_clip.transform import PreprocessCfg

    theirs = PreprocessCfg()
    assert (theirs.mean, theirs.std) == (MEAN, STD)
    ours = Preprocessing()
    assert (ours.mean, ours.std, ours.interpolation, ours.resize_mode) == (
        (theirs.mean, theirs.std, theirs.interpolation, theirs.resize_mode)
    )


def test_an_architecture_by_its_name_has_images_as_its_published_weights_want_them() -> None:
    plain, sigmoid = architecture("ViT-B-32"), architecture("ViT-B-16-SigLIP")
    assert plain.config["embed_dim"] == 512 and plain.preprocessing == Preprocessing()
    assert sigmoid.preprocessing.resize_mode == "squash" and sigmoid.preprocessing.mean == (0.5, 0.5, 0.5)


def test_every_architecture_of_open_clip_has_preprocessing_that_is_served() -> None:
    import open_clip

    assert {architecture(name).name for name in open_clip.list_models()} == set(open_clip.list_models())


def test_an_architecture_from_a_file_in_both_forms(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(tiny.CONFIG))
    prepared = {"mean": [0, 0, 0], "std": [1, 1, 1], "resize_mode": "squash", "interpolation": "bilinear", "size": 32}
    (tmp_path / "b.json").write_text(json.dumps({"model_cfg": tiny.CONFIG, "preprocess_cfg": prepared}))
    plain, published = architecture(str(tmp_path / "a.json")), architecture(str(tmp_path / "b.json"))
    assert plain.config == published.config == tiny.CONFIG and plain.preprocessing == Preprocessing()
    assert published.preprocessing == Preprocessing(
        mean=(0, 0, 0), std=(1, 1, 1), resize_mode="squash", interpolation="bilinear"
    )


@pytest.mark.parametrize("name", ["ViT-B-23", "ViT-B/32", "hf-hub:timm/ViT-B-16-SigLIP", "local-dir:/tmp"])
def test_a_name_that_is_none_is_told_with_the_nearest(name: str) -> None:
    with pytest.raises(UserError, match=r"is neither an architecture of open_clip \(nearest: .*ViT-.*\) nor a JSON"):
        architecture(name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ("[1]", "model_cfg: Input should be a valid dictionary"),
        ('{"model_cfg": {}, "preprocess_cfg": {"resize_mode": "longest"}}', "preprocess_cfg.resize_mode: Input should"),
        ('{"model_cfg": {}, "preprocess_cfg": {"mean": [1, 2]}}', "preprocess_cfg.mean.2: Field required"),
    ],
)
def test_a_file_that_is_no_architecture_is_told_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(UserError, match=message) as caught:
        architecture(str(tmp_path / "a.json"))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(UserError, match=r"/nowhere/a\.json cannot be read: No such file"):
        architecture("/nowhere/a.json")
