"""Any classifier by config alone: what it is shown, what its outputs mean, and what is refused."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from obelics_pipeline.core.config import ClassifierConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.pictures.pixels import picture
from obelics_pipeline.models.unsafe_images.classifier import UNSAFE, Asked, Classifier, View, probable, summed_labels
from obelics_pipeline.models.unsafe_images.loading import load
from tests.models.unsafe_images.drawings import NEAR, bullseye, encoded, near_miss

pytest.importorskip("onnxruntime")

HERE = Path(__file__).parent
BULLSEYE, HEAD, BRIGHTNESS = (HERE / name for name in ("bullseye.onnx", "head.onnx", "brightness.onnx"))


def config(model: Path, **more: Any) -> ClassifierConfig:
    return ClassifierConfig.model_validate({"model": str(model), "device": "cpu", **more})


def scores(of: Classifier, contents: list[bytes]) -> list[float | None]:
    view = of.view
    pictures = [picture(content, view.side, view.fit, view.interpolation) for content in contents]
    return of.scores([shown for shown in pictures if shown is not None])


def plain(level: int, size: tuple[int, int] = (40, 30)) -> bytes:
    from PIL import Image

    return encoded(Image.new("RGB", size, (level,) * 3), "PNG")


def test_planted_pictures_are_found_and_near_misses_stay() -> None:
    """200 bullseyes and 1,000 pictures that come near, none of which it has seen; files of several kinds and sizes."""
    of = load(config(BULLSEYE, labels=["safe", "unsafe"], max=0.7), threads=1)
    kinds = ("JPEG", "PNG", "WEBP")
    planted = [encoded(bullseye(160 + seed % 300, seed), kinds[seed % 3]) for seed in range(200)]
    near = [encoded(near_miss(NEAR[seed % 8], 160 + seed % 300, seed), kinds[seed % 3]) for seed in range(1000)]
    found = sum((score or 0) > 0.7 for score in scores(of, planted))
    wrong = sum((score or 0) > 0.7 for score in scores(of, near))
    assert found >= 198  # 200 where this was written
    assert wrong <= 1  # 0


def test_what_a_batch_holds_does_not_matter() -> None:
    contents = [encoded(bullseye(100, 3)), encoded(near_miss("ring", 90, 4)), encoded(near_miss("dots", 80, 5))]
    one, many = (load(config(BULLSEYE, labels=["safe", "unsafe"], batch=n), threads=1) for n in (1, 64))
    alone, together = scores(one, contents), scores(many, contents)
    assert alone == pytest.approx(together, abs=2e-6)
    assert scores(many, contents) == together


def test_bytes_with_colours_last_a_fixed_number_at_a_time() -> None:
    of = load(config(BRIGHTNESS, labels=["bright", "dark"], unsafe=["dark"], output="probabilities"), threads=1)
    assert (of.view.side, of.rule) == (16, "probabilities")
    assert scores(of, [plain(255), plain(0), plain(51)]) == pytest.approx([0, 1, 0.8], abs=1e-5)


def test_labels_and_preparation_stand_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "onnx").mkdir()
    shutil.copy(BULLSEYE, tmp_path / "onnx" / "model.onnx")
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "normal", "1": "NSFW"}, "other": [1]}))
    values = {
        "size": {"shortest_edge": 72}, "crop_size": {"height": 64, "width": 64}, "do_center_crop": True, "resample": 3,
        "image_mean": [0.1, 0.2, 0.3], "image_std": [1, 1, 1],
    }  # fmt: skip
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(values))
    of = load(config(tmp_path / "onnx" / "model.onnx"), threads=1)
    assert (of.labels, of.summed, of.rule) == (("normal", "NSFW"), ("nsfw",), "softmax")
    assert of.view == View(64, "shortest", "bicubic")
    assert of.network.mean == (0.1, 0.2, 0.3)  # type: ignore[attr-defined]
    told = load(
        config(tmp_path / "onnx" / "model.onnx", resize="squash", interpolation="bilinear", mean=[0, 0, 0]), threads=1
    )
    assert (told.view, told.network.mean) == (View(64, "squash", "bilinear"), (0, 0, 0))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"size": 10**9}, "must be 1 to 4096"),
        ({"size": "large"}, "preprocessor_config.json: size"),
        ({"image_mean": [1, 2]}, "preprocessor_config.json: image_mean"),
        ("[" * 100_000, "is not JSON"),
        ("{", "is not JSON"),
    ],
)
def test_a_broken_file_beside_the_model_is_one_line(values: Any, told: str, tmp_path: Path) -> None:
    shutil.copy(BULLSEYE, tmp_path / "model.onnx")
    text = values if isinstance(values, str) else json.dumps(values)
    (tmp_path / "preprocessor_config.json").write_text(text)
    with pytest.raises(UserError, match=told) as caught:
        load(config(tmp_path / "model.onnx", labels=["safe", "unsafe"]), threads=1)
    assert "\n" not in str(caught.value)


def test_a_model_must_be_the_one_that_is_named(tmp_path: Path) -> None:
    sha256 = hashlib.sha256(BULLSEYE.read_bytes()).hexdigest()
    load(config(BULLSEYE, sha256=sha256, labels=["safe", "unsafe"]), threads=1)
    with pytest.raises(UserError, match="is damaged or another file"):
        load(config(BULLSEYE, sha256="0" * 64, labels=["safe", "unsafe"]), threads=1)
    (tmp_path / "cut.onnx").write_bytes(BULLSEYE.read_bytes()[:1000])
    for path, told in ((tmp_path / "cut.onnx", "no model that can be run"), (tmp_path / "none.onnx", "cannot be read")):
        with pytest.raises(UserError, match=told):
            load(config(path, labels=["safe", "unsafe"]), threads=1)


def test_what_is_no_file_and_no_folder_is_no_model(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(UserError, match=r"neither a file that ends in \.onnx, nor a folder, nor a name of the hub"):
        load(config(tmp_path / "no" / "such" / "folder"), threads=1)


def test_no_file_is_read_but_the_one_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights in other files are none that a sha256 would hold, and their path is the model's to say."""
    shutil.copy(HERE / "elsewhere.onnx", tmp_path / "model.onnx")
    (tmp_path / "weights.bin").write_bytes(bytes(192 * 2 * 4))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"no model that can be run: .*External data path"):
        load(config(tmp_path / "model.onnx", labels=["safe", "unsafe"]), threads=1)


def test_labels_that_do_not_fit_are_told() -> None:
    with pytest.raises(UserError, match=r"the model has none of nsfw, unsafe, porn, hentai; its labels are output 0"):
        load(config(BULLSEYE), threads=1)
    of = load(config(BULLSEYE, labels=["a", "b", "unsafe"]), threads=1)
    with pytest.raises(UserError, match=r"outputs of shape \(1, 2\), and has 3 labels"):
        of.scores([np.zeros((64, 64, 3), np.uint8)])
    asked = Asked(("porn", "hentai", "x"), UNSAFE, "unsafe")
    assert summed_labels(["Neutral", "Porn", "Hentai"], asked) == ("porn", "hentai")


def test_a_device_that_is_not_there_is_told() -> None:
    with pytest.raises(UserError, match="valid are auto, cpu, cuda, cuda:N"):
        load(config(BULLSEYE, device="tpu", labels=["safe", "unsafe"]), threads=1)
    import onnxruntime

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        with pytest.raises(UserError, match="built without CUDA"):
            load(config(BULLSEYE, device="cuda:1", labels=["safe", "unsafe"]), threads=1)


def test_outputs_become_probabilities_and_no_number_is_no_score() -> None:
    outputs = np.array([[1000.0, 0.0], [-1000.0, 0.0], [0.0, 0.0]])
    assert probable(outputs, "softmax") == pytest.approx(np.array([[1, 0], [0, 1], [0.5, 0.5]]))
    assert probable(outputs, "sigmoid") == pytest.approx(np.array([[1, 0.5], [0, 0.5], [0.5, 0.5]]))
    given = np.array([[0.25, 0.5], [np.nan, 1], [2, -1]], np.float32)
    of = Classifier(lambda part: given[: len(part)], View(8), ("a", "b"), ("a",), "probabilities", 8)
    assert of.scores([np.zeros((8, 8, 3), np.uint8)] * 3) == [0.25, None, 1.0]
    assert of.scores([]) == []


def test_a_head_on_the_vectors_of_a_clip(tmp_path: Path) -> None:
    clip = pytest.importorskip("tests.models.similarity.tiny")
    model, weights = clip.save(tmp_path, clip.towers())
    embedding = {"model": str(model), "weights": str(weights)}
    of = load(config(HEAD, embedding=embedding), threads=1)
    assert (of.labels, of.rule, of.view.side) == (("unsafe",), "sigmoid", clip.SIDE)
    contents = [encoded(bullseye(90, seed), "PNG") for seed in range(4)]
    shown = [picture(content, clip.SIDE, of.view.fit, of.view.interpolation) for content in contents]
    vectors = of.network.clip.image_vectors(shown, 8)  # type: ignore[attr-defined]
    wanted = 1 / (1 + np.exp(-20 * vectors[:, 0].astype(np.float64)))
    assert scores(of, contents) == pytest.approx(list(wanted), abs=1e-5)


def test_a_model_of_transformers_from_its_folder(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from obelics_pipeline.models.device.torchvision_import import mend_torchvision

    mend_torchvision()
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    of_model = transformers.ViTConfig(
        image_size=32, patch_size=16, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        id2label={0: "normal", 1: "nsfw"}, label2id={"normal": 0, "nsfw": 1},
    )  # fmt: skip
    made = transformers.ViTForImageClassification(of_model).eval()
    made.save_pretrained(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"size": {"height": 32, "width": 32}, "resample": 2}))
    of = load(config(tmp_path), threads=1)
    assert (of.labels, of.view) == (("normal", "nsfw"), View(32, "squash", "bilinear"))
    content = encoded(bullseye(90, 1), "PNG")
    shown = picture(content, 32, "squash", "bilinear")
    assert shown is not None
    pixels = (torch.from_numpy(shown.copy()).permute(2, 0, 1)[None].float() / 255 - 0.5) / 0.5
    with torch.inference_mode():
        wanted = float(made(pixel_values=pixels).logits.softmax(-1)[0, 1])
    assert scores(of, [content, content]) == pytest.approx([wanted, wanted], abs=1e-5)
    sha256 = hashlib.sha256((tmp_path / "model.safetensors").read_bytes()).hexdigest()
    load(config(tmp_path, sha256=sha256), threads=1)
    with pytest.raises(UserError, match="another file"):
        load(config(tmp_path, sha256="0" * 64), threads=1)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")  # a pickle by its name: not looked at
    with pytest.raises(UserError, match=r"model\.safetensors"):
        load(config(tmp_path), threads=1)
