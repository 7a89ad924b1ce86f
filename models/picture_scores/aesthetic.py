"""How well people would like a picture: layers on the vectors of a CLIP, as LAION's predictors are.

github.com/LAION-AI/aesthetic-predictor has one linear layer, github.com/christophschuhmann/improved-aesthetic-predictor
five (768 to 1024, 128, 64, 16 and 1), which were trained with dropout between them and no activation. Both read vectors
of length one of OpenAI's ViT-L/14.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.weight_files import check, read
from obelics_pipeline.models.pictures.pixels import Picture, picture
from obelics_pipeline.models.similarity.clip import Clip

Numbers = npt.NDArray[np.float64]
Activation = Literal["none", "relu"]
SETTING = "score.aesthetic"


@dataclass(frozen=True)
class Head:
    """Layers as (outputs, inputs) weights and biases, with an activation between two; the last has one output."""

    layers: tuple[tuple[Numbers, Numbers], ...]
    activation: Activation = "none"

    def __call__(self, vectors: npt.NDArray[np.float32]) -> Numbers:
        """A number for each vector."""
        values = vectors.astype(np.float64)
        for number, (weights, biases) in enumerate(self.layers):
            if number and self.activation == "relu":
                values = np.maximum(values, 0)
            values = values @ weights.T + biases
        found: Numbers = values[:, 0]
        return found


@dataclass(frozen=True)
class Aesthetic:
    """A `PictureModel`: the head over the vectors of a CLIP, `batch` pictures at a time."""

    clip: Clip
    head: Head
    batch: int

    def picture(self, content: bytes) -> Picture | None:
        """The square that the CLIP wants; None where the bytes cannot be decoded."""
        prepared = self.clip.preprocessing
        return picture(content, self.clip.image_side, prepared.resize_mode, prepared.interpolation)

    def numbers(self, pictures: Sequence[Picture]) -> list[float]:
        """A number for each; NaN where the CLIP gives no finite vector."""
        if not pictures:
            return []
        found = self.head(self.clip.image_vectors(pictures, self.batch))
        return [float(value) if np.isfinite(value) else float("nan") for value in found]


def read_head(path: Path, sha256: str | None, activation: Activation, width: int) -> Head:
    """The head of a file, for vectors of `width` numbers.

    Raises `UserError` where the file is missing, another than expected, or holds no such layers.
    """
    if not path.is_file():
        raise UserError(f"{SETTING}.head: {path}: no such file; give one of weights (.safetensors, .pth, .pt, .bin)")
    if sha256 is not None:
        check(path, sha256)
    return Head(_layers(read(path), path, width), activation)


def _layers(tensors: Mapping[str, Any], path: Path, width: int) -> tuple[tuple[Numbers, Numbers], ...]:
    named: dict[str, dict[str, Numbers]] = {}
    for name, tensor in tensors.items():
        layer, _, kind = name.rpartition(".")
        rank = {"weight": 2, "bias": 1}.get(kind)
        if rank is None or getattr(tensor, "ndim", None) != rank:
            raise _no_head(path, f"{name} is no weight (two dimensions) or bias (one) of a linear layer")
        named.setdefault(layer, {})[kind] = np.asarray(tensor.detach().float().numpy(), np.float64)
    layers = []
    for layer in sorted(named, key=lambda name: ([int(digits) for digits in re.findall(r"\d+", name)], name)):
        of_it = named[layer]
        if len(of_it) != 2 or len(of_it["weight"]) != len(of_it["bias"]):
            raise _no_head(
                path, f"layer {layer or 'of no name'} must have a weight, and a bias for each of its outputs"
            )
        if not all(np.isfinite(values).all() for values in of_it.values()):
            raise _no_head(path, f"layer {layer or 'of no name'} has numbers that are not finite")
        layers.append((of_it["weight"], of_it["bias"]))
    sizes = [size for weight, _ in layers for size in (weight.shape[1], weight.shape[0])]
    if not layers or sizes[1:-1:2] != sizes[2::2] or sizes[-1] != 1:
        steps = ", ".join(f"{weight.shape[1]} to {weight.shape[0]}" for weight, _ in layers) or "none"
        raise _no_head(path, f"its layers ({steps}) must follow each other, and end in one number")
    if sizes[0] != width:
        raise UserError(
            f"{SETTING}.head: {path} reads vectors of {sizes[0]} numbers, and the CLIP of {SETTING}.embedding gives "
            f"{width}; name the CLIP that it was trained on"
        )
    return tuple(layers)


def _no_head(path: Path, why: str) -> UserError:
    return UserError(f"{SETTING}.head: {path} is no head of linear layers: {why}")
