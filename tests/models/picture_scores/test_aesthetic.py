"""A head of layers on a CLIP gives what torch gives of the same vectors; a file that is no such head is refused."""

import hashlib
import io
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

clip = pytest.importorskip("tests.models.similarity.tiny")
import torch
from torch import nn

from obelics_pipeline.core.config import AestheticConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.picture_scores.aesthetic import Head, read_head
from obelics_pipeline.models.picture_scores.loading import aesthetic
from tests.models.picture_scores.test_loading import pictures, scored

WIDTH = 32  # of the vectors of the small CLIP


def mlp(width: int = WIDTH) -> Any:
    """The layers of improved-aesthetic-predictor, for vectors of another width."""
    torch.manual_seed(1)
    dropped = nn.Dropout(0.2)
    return nn.ModuleDict(
        {
            "layers": nn.Sequential(
                nn.Linear(width, 1024), dropped, nn.Linear(1024, 128), dropped, nn.Linear(128, 64), dropped,
                nn.Linear(64, 16), nn.Linear(16, 1),
            )
        }
    ).eval()  # fmt: skip


def test_an_mlp_over_a_clip_is_that_of_torch_and_open_clip(tmp_path: Path) -> None:
    towers, layers = clip.towers(), mlp()
    model, weights = clip.save(tmp_path, towers)
    torch.save(layers.state_dict(), head := tmp_path / "linearMSE.pth")
    config = AestheticConfig.model_validate(
        {"head": str(head), "embedding": {"model": str(model), "weights": str(weights)}, "device": "cpu", "batch": 3}
    )
    names = list(pictures())
    scores, found = scored(aesthetic(config), *names, "broken")
    from open_clip import image_transform
    from open_clip.constants import OPENAI_DATASET_MEAN, OPENAI_DATASET_STD

    prepare = image_transform(clip.SIDE, is_train=False, mean=OPENAI_DATASET_MEAN, std=OPENAI_DATASET_STD)
    shown = torch.stack([prepare(Image.open(io.BytesIO(content))) for content in pictures().values()])
    with torch.inference_mode():
        wanted = layers["layers"](towers.encode_image(shown, normalize=True))[:, 0].tolist()
    assert [of_it["picture_aesthetic"] for of_it in scores[:-1]] == pytest.approx(wanted, abs=1e-5)
    assert scores[-1] == {}
    assert max(wanted) - min(wanted) > 1e-3
    assert found["picture_aesthetic_images"] == len(names)


@pytest.mark.parametrize("form", ["pth", "safetensors"])
def test_one_linear_layer_and_activations(form: str, tmp_path: Path) -> None:
    from safetensors.torch import save_file

    torch.manual_seed(2)
    line, two = nn.Linear(5, 1), nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 1))
    vectors = torch.randn(9, 5)
    for network, activation in ((line, "none"), (line, "relu"), (two, "relu")):
        path = tmp_path / f"head.{form}"
        torch.save(network.state_dict(), path) if form == "pth" else save_file(network.state_dict(), path)
        with torch.inference_mode():
            wanted = network(vectors)[:, 0].numpy()
        assert read_head(path, None, activation, 5)(vectors.numpy()) == pytest.approx(wanted, abs=1e-5)  # type: ignore[arg-type]


def test_layers_are_in_the_order_of_their_numbers() -> None:
    eye = np.eye(1)
    of = Head(((eye * 2, np.zeros(1)), (eye * 3, np.ones(1))))
    assert of(np.ones((1, 1), np.float32)).tolist() == [7.0]


def test_ten_layers_are_not_sorted_as_words(tmp_path: Path) -> None:
    sizes = [3, *range(20, 31), 1]
    layers = nn.Sequential(*(nn.Linear(a, b) for a, b in pairwise(sizes)))
    torch.save(layers.state_dict(), tmp_path / "deep.pth")
    assert len(read_head(tmp_path / "deep.pth", None, "none", 3).layers) == 12


LINE = nn.Linear(WIDTH, 1).state_dict()


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (LINE | {"running_mean": torch.zeros(3)}, "running_mean is no weight (two dimensions) or bias (one)"),
        ({"weight": torch.zeros(1, WIDTH)}, "layer of no name must have a weight, and a bias for each of its outputs"),
        ({"a.weight": torch.zeros(1, WIDTH, 1, 1)}, "a.weight is no weight"),
        (LINE | {"bias": torch.tensor([float("nan")])}, "layer of no name has numbers that are not finite"),
        (nn.Linear(WIDTH, 2).state_dict(), f"its layers ({WIDTH} to 2) must follow each other, and end in one number"),
        (nn.Sequential(nn.Linear(WIDTH, 4), nn.Linear(5, 1)).state_dict(), f"({WIDTH} to 4, 5 to 1) must follow"),
        ({}, "its layers (none) must follow each other"),
        (nn.Linear(768, 1).state_dict(), f"768 numbers, and the CLIP of score.aesthetic.embedding gives {WIDTH}"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_head_is_told_in_one_line(state: dict[str, Any], told: str, tmp_path: Path) -> None:
    torch.save(state, path := tmp_path / "head.pth")
    with pytest.raises(UserError, match=re.escape(told)) as caught:
        read_head(path, None, "none", WIDTH)
    assert "\n" not in str(caught.value)


def test_the_file_must_be_there_whole_and_the_one_that_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"score\.aesthetic\.head: .*no\.pth: no such file; give one of weights"):
        read_head(tmp_path / "no.pth", None, "none", WIDTH)
    torch.save(LINE, path := tmp_path / "head.pth")
    read_head(path, hashlib.sha256(path.read_bytes()).hexdigest(), "none", WIDTH)
    with pytest.raises(UserError, match="is damaged or another file"):
        read_head(path, "0" * 64, "none", WIDTH)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(UserError, match="holds no weights that can be read without running code") as caught:
        read_head(path, None, "none", WIDTH)
    assert "\n" not in str(caught.value)
