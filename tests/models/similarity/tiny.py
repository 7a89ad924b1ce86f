"""Small real CLIPs: of random weights, and one that learned in seconds what coloured shapes are called."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from obelics_pipeline.core.document import Document
from obelics_pipeline.models.device.torchvision_import import import_torchvision

pytest.importorskip("torch")
if find_spec("torchvision") is None:  # importorskip would meet the error that import_torchvision mends
    pytest.skip("no module torchvision", allow_module_level=True)
import_torchvision()
pytest.importorskip("open_clip")

SIDE, LENGTH = 32, 12  # pixels, tokens: ten of a text, and the two around them
CONFIG: dict[str, Any] = {
    "embed_dim": 32,
    "vision_cfg": {"image_size": SIDE, "patch_size": 8, "layers": 2, "width": 64, "head_width": 32},
    "text_cfg": {"context_length": LENGTH, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1},
}
COLOURS = {"red": (220, 30, 30), "green": (30, 180, 40), "blue": (30, 60, 220), "yellow": (235, 215, 40)}
SHAPES = ("square", "bar", "column")
CAPTIONS = tuple(f"a {colour} {shape}" for colour, shape in itertools.product(COLOURS, SHAPES))


def towers(config: dict[str, Any] = CONFIG, seed: int = 0) -> Any:
    """open_clip's CLIP with random weights that are large enough to tell two texts apart."""
    import open_clip
    import torch

    torch.manual_seed(seed)
    made = open_clip.CLIP(**config)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(3)
    return made.eval()


def save(folder: Path, model: Any, config: dict[str, Any] = CONFIG) -> tuple[Path, Path]:
    """The files of an architecture and of its weights."""
    from safetensors.torch import save_file

    (folder / "tiny.json").write_text(json.dumps(config))
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, folder / "tiny.safetensors")
    return folder / "tiny.json", folder / "tiny.safetensors"


def drawing(caption: str, seed: int = 0) -> np.ndarray[Any, Any]:
    """A coloured shape somewhere on a ground that is nearly white: (side, side, 3), uint8."""
    _, colour, shape = caption.split()
    draw = np.random.default_rng(seed)
    out = draw.integers(225, 256, (SIDE, SIDE, 3))
    y, x = abs(np.mgrid[:SIDE, :SIDE] - draw.integers(14, 19, 2)[:, None, None])
    high, wide = {"square": (9, 9), "bar": (4, 14), "column": (14, 4)}[shape]
    out[(y <= high) & (x <= wide)] = np.clip(np.array(COLOURS[colour]) + draw.integers(-20, 21, 3), 0, 255)
    return out.astype(np.uint8)


STEPS = 100


@cache
def trained() -> Any:
    """A CLIP that saw each caption with two drawings at a time, by CLIP's own loss over all captions: 4 s of a CPU."""
    import open_clip
    import torch
    from torch.nn.functional import cross_entropy

    torch.manual_seed(0)
    model = open_clip.CLIP(**CONFIG)
    model.token_embedding.requires_grad_(False)  # nearly all of its parameters, and random ones tell words apart
    rows = open_clip.SimpleTokenizer(context_length=LENGTH)(list(CAPTIONS))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], weight_decay=0)
    labels = torch.arange(len(CAPTIONS)).repeat(2)
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min(1, (step + 1) / 10) * (1 - 0.9 * step / STEPS)
        drawn = np.stack([drawing(c, seed=1000 + 2 * step + copy) for copy in range(2) for c in CAPTIONS])
        images, texts, scale = model(normalised(drawn), rows)[:3]
        loss = cross_entropy(scale * images @ texts.T, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def normalised(pictures: np.ndarray[Any, Any]) -> Any:
    """As open_clip's preprocessing ends: (n, 3, side, side)."""
    import torch
    from open_clip.constants import OPENAI_DATASET_MEAN, OPENAI_DATASET_STD

    scaled = (pictures / 255 - np.array(OPENAI_DATASET_MEAN)) / np.array(OPENAI_DATASET_STD)
    return torch.from_numpy(scaled.transpose(0, 3, 1, 2)).float()


def similarities(documents: Iterable[Document]) -> list[list[float | None]]:
    return [[image.similarity for image in document.images()] for document in documents]
