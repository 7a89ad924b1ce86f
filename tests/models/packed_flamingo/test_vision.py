from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.errors import UserError
from tests.models.packed_flamingo.small import TEXTS, batch, flamingo, parts, picture, settings

torch = pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo.vision import open_vision

PICTURES = torch.stack([torch.from_numpy(picture(i)) for i in range(3)])


def test_a_tower_gives_a_vector_for_each_patch() -> None:
    tower = open_vision(settings())
    assert tower(PICTURES).shape == (3, 16, 32) == (3, tower.patches, tower.width)


def test_a_picture_is_seen_as_transformers_sees_it() -> None:
    from transformers import CLIPVisionModel

    theirs = CLIPVisionModel.from_pretrained(parts()[1]).eval()
    mean, std = (
        torch.tensor(v).view(3, 1, 1)
        for v in ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])
    )
    with torch.no_grad():
        expected = theirs(pixel_values=(PICTURES / 255 - mean) / std).last_hidden_state[:, 1:]
        assert torch.allclose(open_vision(settings())(PICTURES), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["siglip", "clip", "dinov2"])
def test_towers_of_other_kinds_are_taken(kind: str, tmp_path: Path) -> None:
    import transformers as t

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 32, "patch_size": 8}
    if kind == "siglip":
        made = t.SiglipVisionModel(t.SiglipVisionConfig(**sizes, intermediate_size=32))
    elif kind == "clip":
        texts = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        made = t.CLIPModel(
            t.CLIPConfig(vision_config={**sizes, "intermediate_size": 32}, text_config={**texts, "vocab_size": 50})
        )
    else:
        made = t.Dinov2Model(t.Dinov2Config(**sizes))
    made.save_pretrained(tmp_path)
    model = flamingo(vision=str(tmp_path))
    assert model.vision(PICTURES).shape == (3, 16, 16)
    assert torch.isfinite(model(batch(model.vocabulary, [[[TEXTS[0], 1]]]))).all()


def test_a_tower_of_open_clip_by_name_and_by_its_config(tmp_path: Path) -> None:
    pytest.importorskip("open_clip")
    path = tmp_path / "tower.json"
    small = {"image_size": 32, "patch_size": 8, "layers": 1, "width": 16, "head_width": 8}
    path.write_text(
        json.dumps({"embed_dim": 8, "vision_cfg": small, "text_cfg": {"width": 16, "heads": 2, "layers": 1}})
    )
    tower = open_vision(settings(vision=str(path)))
    assert tower(PICTURES).shape == (3, 16, 16)


def test_what_cannot_be_had_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="neither a folder nor a model"):
        open_vision(settings(vision="ViT-none"))
    with pytest.raises(UserError, match="no model that transformers can read"):
        open_vision(settings(vision=str(tmp_path)))
    with pytest.raises(UserError, match="sees pictures of 32 pixels"):
        open_vision(settings(vision_side=64))


def test_a_frozen_tower_keeps_nothing_for_a_backward_pass() -> None:
    def kept(**settings: Any) -> int:
        """Tensors that a pass through the tower keeps."""
        tensors: list[torch.Tensor] = []
        vision = flamingo(**settings).vision
        with torch.autograd.graph.saved_tensors_hooks(lambda t: tensors.append(t) or t, lambda t: t):
            vision(PICTURES)
        return len(tensors)

    assert kept() == 0
    assert 0 < kept(unfreeze=("vision.*layers.1.mlp*",)) < kept(unfreeze=("vision.*",))


def other_tower(t: Any, kind: str) -> Any:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    if kind == "siglip2":
        return t.Siglip2VisionModel(t.Siglip2VisionConfig(**sizes, num_patches=16, patch_size=8))
    if kind == "resnet":
        return t.ResNetModel(t.ResNetConfig(embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1]))
    return t.BertModel(t.BertConfig(**sizes, vocab_size=50))


@pytest.mark.parametrize("kind", ["siglip2", "resnet", "bert"])
def test_a_model_that_gives_no_vectors_of_patches_is_refused_and_valid_ones_are_named(
    kind: str, tmp_path: Path
) -> None:
    import transformers

    other_tower(transformers, kind).save_pretrained(tmp_path)
    with pytest.raises(UserError) as error:
        open_vision(settings(vision=str(tmp_path)))
    said = str(error.value)
    assert str(tmp_path) in said and f"type {kind}" in said and "CLIP, SigLIP" in said and "\n" not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds no JSON object"),
        ('{"image_mean": [1, 2]}', r"image_mean is \[1, 2\]; valid are three numbers"),
        ('{"image_std": [0, 1, 1]}', r"image_std is \[0, 1, 1\]; valid are three numbers above 0"),
        ('{"image_std": "no"}', "image_std is no"),
    ],
)
def test_a_damaged_preprocessor_config_is_told(text: str, said: str, tmp_path: Path) -> None:
    shutil.copytree(parts()[1], tmp_path / "vision")
    (tmp_path / "vision" / "preprocessor_config.json").write_text(text)
    with pytest.raises(UserError, match=said):
        open_vision(settings(vision=str(tmp_path / "vision")))


def without(folder: Path, name: str) -> Path:
    from safetensors.torch import load_file, save_file

    shutil.copytree(parts()[1], folder)
    weights = load_file(folder / "model.safetensors")
    [found] = [n for n in weights if n.endswith(name)]
    del weights[found]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def test_weights_that_are_missing_are_refused_where_vectors_of_patches_depend_on_them(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lacks weights that its config wants: .*layers\.1\.mlp\.fc2\.bias"):
        open_vision(settings(vision=str(without(tmp_path / "one", "layers.1.mlp.fc2.bias"))))
    open_vision(settings(vision=str(without(tmp_path / "two", "post_layernorm.bias"))))  # of the pooled vector


@pytest.mark.parametrize("text", ["{", '{"a": 1}', '{"embed_dim": 8, "vision_cfg": {"timm_model_name": "none"}}'])
def test_a_config_that_open_clip_makes_no_tower_of_is_told(text: str, tmp_path: Path) -> None:
    pytest.importorskip("open_clip")
    (tmp_path / "tower.json").write_text(text)
    with pytest.raises(UserError, match=r"vision: .*tower\.json"):
        open_vision(settings(vision=str(tmp_path / "tower.json")))


def test_a_convolutional_tower_of_open_clip_is_refused() -> None:
    pytest.importorskip("open_clip")
    with pytest.raises(UserError, match="RN50 is a ModifiedResNet of open_clip"):
        open_vision(settings(vision="RN50"))
