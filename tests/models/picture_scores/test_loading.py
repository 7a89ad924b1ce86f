"""Any classifier by config: its label's probability is that of transformers, and what is wrong is told in one line."""

import hashlib
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from obelics_pipeline.core.config import PictureClassifierConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.picture_scores.loading import picture_classifier
from obelics_pipeline.models.picture_scores.scorer import PictureScorer
from tests.models.unsafe_images.drawings import bullseye, encoded, near_miss

ONNX = Path(__file__).parents[1] / "unsafe_images"
SIDE = 32


def saved_vit(folder: Path) -> Any:
    """A random ViT whose labels are those of a detector of watermarks, in its folder."""
    torch = pytest.importorskip("torch")
    from obelics_pipeline.models.device.torchvision_import import mend_torchvision

    mend_torchvision()
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    labels = {0: "Clean", 1: "Watermark", 2: "meme"}
    made = transformers.ViTForImageClassification(
        transformers.ViTConfig(
            image_size=SIDE, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=64, id2label=labels, label2id={name: number for number, name in labels.items()},
        )
    ).eval()  # fmt: skip
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(4)  # so that its probabilities differ between pictures
    made.save_pretrained(folder)
    processor = transformers.ViTImageProcessorPil(size={"height": SIDE, "width": SIDE}, resample=2)
    processor.save_pretrained(folder)
    return made, processor


def pictures() -> dict[str, bytes]:
    """By name: what lies nearest to a run's images, of several shapes, modes and kinds."""
    draw = np.random.default_rng(0)
    grain = Image.fromarray(draw.integers(0, 256, (90, 70, 3), np.uint8))
    return {
        "bullseye": encoded(bullseye(90, 1), "PNG"),
        "wide": encoded(near_miss("ring", 80, 2).resize((120, 60)), "PNG"),
        "grain": encoded(grain, "PNG"),
        "grey": encoded(grain.convert("L"), "PNG"),
    }


def document(*names: str) -> Document:
    images = [ImageNode(f"http://a/{name}", name, sha256=f"{name:0>64}") for name in names]
    return Document("0" * 32, "http://a/", "w", 0, 1, [TextNode("text"), *images])


def scored(of: PictureScorer, *names: str) -> tuple[list[dict[str, float]], dict[str, float | None]]:
    """The scores of the images of a document, and its columns."""
    contents = pictures()
    of.images = lambda image: contents.get(image.unformatted_src, b"broken")
    one = document(*names)
    [found] = of.score([one])
    return [image.scores for image in one.images()], found


def config(model: Path, **more: Any) -> PictureClassifierConfig:
    return PictureClassifierConfig.model_validate({"model": str(model), "label": "watermark", "device": "cpu", **more})


def test_the_probability_of_a_label_is_that_of_transformers(tmp_path: Path) -> None:
    made, processor = saved_vit(tmp_path)
    import torch

    names = list(pictures())
    scores, found = scored(picture_classifier("watermark", config(tmp_path, batch=3)), *names)
    images = [Image.open(io.BytesIO(content)).convert("RGB") for content in pictures().values()]
    with torch.inference_mode():
        logits = made(**processor(images, return_tensors="pt")).logits
    wanted = [float(row[1]) for row in logits.softmax(-1)]
    assert [of_it["picture_watermark"] for of_it in scores] == pytest.approx(wanted, abs=1e-5)
    assert max(wanted) - min(wanted) > 0.01
    assert found["picture_watermark_images"] == len(names)
    assert found["picture_watermark_mean"] == pytest.approx(sum(wanted) / len(wanted), abs=1e-5)
    assert (found["picture_watermark_min"], found["picture_watermark_max"]) == pytest.approx(
        (min(wanted), max(wanted)), abs=1e-5
    )


def test_an_image_that_cannot_be_seen_has_no_score() -> None:
    pytest.importorskip("onnxruntime")
    of = picture_classifier("ring", config(ONNX / "bullseye.onnx", labels=["plain", "bullseye"], label="bullseye"))
    scores, found = scored(of, "bullseye", "broken", "wide")
    assert [list(of_it) for of_it in scores] == [["picture_ring"], [], ["picture_ring"]]
    assert found["picture_ring_images"] == 2.0
    assert scores[0]["picture_ring"] > 0.9 > 0.1 > scores[2]["picture_ring"]


def test_what_is_no_number_makes_the_columns_none_either() -> None:
    pytest.importorskip("onnxruntime")
    of = picture_classifier("dark", config(ONNX / "night_blind.onnx", label="unsafe", output="probabilities"))
    black = encoded(Image.new("RGB", (40, 40)), "PNG")
    of.images = lambda image: black
    one = document("black")
    [found] = of.score([one])
    score, mean = one.images()[0].scores["picture_dark"], found["picture_dark_mean"]
    assert score != score and mean != mean


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"label": "logo"},
            r"score\.picture_classifiers\.mark\.label: the model has none of logo; its labels are Clean, ",
        ),
        ({"sha256": "0" * 64}, r"is damaged or another file: its sha256 is \w+, 0{64} is expected"),
        ({"device": "tpu:7"}, "valid are auto, cpu, cuda, cuda:N"),
        (
            {"model": "no-such/folder/here"},
            r"score\.picture_classifiers\.mark\.model: .* is neither a file that ends in",
        ),
    ],
)
def test_what_is_wrong_is_told_in_one_line(change: dict[str, Any], told: str, tmp_path: Path) -> None:
    saved_vit(tmp_path)
    with pytest.raises(UserError, match=told) as caught:
        picture_classifier("mark", config(tmp_path).model_copy(update=change))
    assert "\n" not in str(caught.value)


def test_weights_that_are_cut_or_lack_the_labels_are_told(tmp_path: Path) -> None:
    saved_vit(tmp_path)
    from safetensors.torch import load_file, save_file

    path = tmp_path / "model.safetensors"
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    picture_classifier("mark", config(tmp_path, sha256=sha256))
    whole = path.read_bytes()
    save_file({k: v for k, v in load_file(path).items() if "classifier" not in k}, path, {"format": "pt"})
    with pytest.raises(UserError, match=r"no trained image classifier: model\.safetensors lacks classifier\.bias"):
        picture_classifier("mark", config(tmp_path))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=r"score\.picture_classifiers\.mark\.model: ") as caught:
        picture_classifier("mark", config(tmp_path))
    assert "\n" not in str(caught.value)


def test_a_missing_package_is_told_with_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UserError, match=r"no module torch.*pip install 'obelics-pipeline\[flamingo\]'"):
        picture_classifier("mark", config(tmp_path))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UserError, match=r"mark\.model: .* needs onnxruntime; pip install 'obelics-pipeline\[safety\]'"):
        picture_classifier("mark", config(ONNX / "bullseye.onnx"))
