from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.errors import UserError
from tests.models.packed_flamingo.small import TEXTS, batch, flamingo, parts, picture, settings

torch = pytest.importorskip("torch")

from models.packed_flamingo.vision import open_vision

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
