"""A vision tower of transformers or open_clip: pictures in, a vector for each of their patches out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from models.device.torchvision_import import mend_torchvision
from models.device.weight_files import read
from models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.errors import UserError

# Mean and standard deviation of RGB in the training data of CLIP: open_clip.constants.OPENAI_DATASET_MEAN and _STD.
MEAN = (0.48145466, 0.4578275, 0.40821073)
STD = (0.26862954, 0.26130258, 0.27577711)


class Vision(nn.Module):
    """A tower with what it wants done to a picture. `side` in pixels; `width` of a patch's vector; `patches` of one."""

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(
        self, tower: nn.Module, side: int, width: int, patches: int, mean: Sequence[float], std: Sequence[float]
    ) -> None:
        super().__init__()
        self.tower = tower
        self.side, self.width, self.patches = side, width, patches
        self.register_buffer("mean", torch.tensor(mean).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(std).view(3, 1, 1), persistent=False)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Features (pictures, patches, width) of pictures (pictures, 3, side, side), uint8."""
        pixels = (pictures.float() / 255 - self.mean) / self.std
        if not torch.is_autocast_enabled(pixels.device.type):
            pixels = pixels.to(next(self.tower.parameters()).dtype)
        return self._features(pixels)

    def _features(self, pixels: torch.Tensor) -> torch.Tensor:
        """Vectors of patches; a class token and registers stand before them."""
        tokens: torch.Tensor = self.tower(pixels)
        return tokens[:, -self.patches :].contiguous()


class TransformersVision(Vision):
    """A tower of transformers."""

    def _features(self, pixels: torch.Tensor) -> torch.Tensor:
        tokens: torch.Tensor = self.tower(pixel_values=pixels).last_hidden_state
        return tokens[:, -self.patches :].contiguous()


class OpenClipVision(Vision):
    """A tower of open_clip."""

    def _features(self, pixels: torch.Tensor) -> torch.Tensor:
        tokens: torch.Tensor = self.tower(pixels)[1]
        return tokens


def open_vision(settings: FlamingoSettings) -> Vision:
    """The tower that the settings name. Raises `UserError` where it cannot be had."""
    mend_torchvision()
    where = Path(settings.vision)
    return _of_transformers(where, settings) if where.is_dir() else _of_open_clip(settings)


def _of_transformers(folder: Path, settings: FlamingoSettings) -> Vision:
    from transformers import AutoModel

    try:
        whole: Any = AutoModel.from_pretrained(folder, local_files_only=True, dtype=getattr(torch, settings.dtype))
    except Exception as error:  # of many kinds: a missing file, JSON, another version
        raise UserError(f"vision: {folder} holds no model that transformers can read: {_short(error)}") from None
    tower = getattr(whole, "vision_model", whole)  # a whole CLIP has a tower for texts too
    about = getattr(whole.config, "vision_config", whole.config)
    side = about.image_size if settings.vision_side is None else settings.vision_side
    if side != about.image_size:
        raise UserError(f"vision: {folder} sees pictures of {about.image_size} pixels; vision_side is {side}")
    said = folder / "preprocessor_config.json"
    wanted = json.loads(said.read_bytes()) if said.exists() else {}
    return TransformersVision(
        tower,
        side,
        about.hidden_size,
        (side // about.patch_size) ** 2,
        wanted.get("image_mean", MEAN),
        wanted.get("image_std", STD),
    )


def _of_open_clip(settings: FlamingoSettings) -> Vision:
    try:
        import open_clip
    except ImportError:
        raise UserError(f"vision: {settings.vision} is no folder, and open_clip is not installed") from None
    path = Path(settings.vision)
    if path.suffix == ".json" and path.exists():
        config = json.loads(path.read_bytes())
    else:
        config = open_clip.get_model_config(settings.vision)
    if config is None:
        raise UserError(f"vision: {settings.vision} is neither a folder nor a model that open_clip knows")
    of = config["vision_cfg"]
    side = of["image_size"] if settings.vision_side is None else settings.vision_side
    tower = open_clip.CLIP(**{**config, "vision_cfg": {**of, "image_size": side}}).visual
    tower.output_tokens = True
    tower.final_ln_after_pool = settings.old_patch_tokens
    if settings.vision_weights is not None:
        weights = read(Path(settings.vision_weights))
        whole = {name.removeprefix("visual."): w for name, w in weights.items() if name.startswith("visual.")}
        try:
            tower.load_state_dict(whole or dict(weights))
        except RuntimeError as error:
            raise UserError(f"vision: {settings.vision_weights} is of another tower: {_short(error)}") from None
    return OpenClipVision(
        tower.to(getattr(torch, settings.dtype)), side, of["width"], (side // of["patch_size"]) ** 2, MEAN, STD
    )


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
