"""A vision tower of transformers or open_clip: pictures in, a vector for each of their patches out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.torchvision_import import mend_torchvision
from obelics_pipeline.models.device.weight_files import read
from obelics_pipeline.models.packed_flamingo.language_model import refuse_missing
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings

# Mean and standard deviation of RGB in the training data of CLIP: open_clip.constants.OPENAI_DATASET_MEAN and _STD.
MEAN = (0.48145466, 0.4578275, 0.40821073)
STD = (0.26862954, 0.26130258, 0.27577711)
VALID = "use a vision transformer for square pictures of one size: CLIP, SigLIP (not NaFlex), DINOv2, ViT"


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
        whole: Any
        whole, told = AutoModel.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,  # or a terminal is asked whether to run the folder's code
            output_loading_info=True,
            dtype=getattr(torch, settings.dtype),
        )
    except Exception as error:  # of many kinds: a missing file, JSON, another version
        raise UserError(f"vision: {folder} holds no model that transformers can read: {_short(error)}") from None
    tower = getattr(whole, "vision_model", whole)  # a whole CLIP has a tower for texts too
    about = getattr(whole.config, "vision_config", whole.config)
    side, width, patch = (getattr(about, name, None) for name in ("image_size", "hidden_size", "patch_size"))
    if not (isinstance(side, int) and isinstance(width, int) and isinstance(patch, int)):
        raise UserError(
            f"vision: {folder} is of type {about.model_type}, whose config has image_size {side}, patch_size {patch} "
            f"and hidden_size {width}, not a number each; {VALID}"
        )
    if settings.vision_side is not None and side != settings.vision_side:
        raise UserError(f"vision: {folder} sees pictures of {side} pixels; vision_side is {settings.vision_side}")
    mean, std = _preprocessing(folder)
    made = TransformersVision(tower, side, width, (side // patch) ** 2, mean, std)
    _try(made, folder)
    missing = {id(p) for name, p in whole.named_parameters() if name in told["missing_keys"]}
    refuse_missing("vision", folder, [n for n, p in tower.named_parameters() if id(p) in missing and _matters(made, p)])
    return made


def _preprocessing(folder: Path) -> tuple[Sequence[float], Sequence[float]]:
    """Mean and standard deviation of the pictures a tower learned from. Raises `UserError` for what are none."""
    said = folder / "preprocessor_config.json"
    if not said.exists():
        return MEAN, STD
    wanted = _json(said)
    mean, std = wanted.get("image_mean", MEAN), wanted.get("image_std", STD)
    for name, values in (("image_mean", mean), ("image_std", std)):
        fine = isinstance(values, Sequence) and len(values) == 3 and all(isinstance(v, int | float) for v in values)
        if not fine or (name == "image_std" and min(values) <= 0):
            valid = "three numbers above 0" if name == "image_std" else "three numbers"
            raise UserError(f"vision: {said}: {name} is {str(values)[:80]}; valid are {valid}")
    return mean, std


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"vision: {path} cannot be read as JSON: {_short(error)}") from None
    if not isinstance(found, dict):
        raise UserError(f"vision: {path} holds no JSON object")
    return found


def _try(vision: Vision, named: Path | str) -> None:
    """Let a tower look at a black picture. Raises `UserError` where it gives no vector for each patch."""
    try:
        with torch.no_grad():
            shape = tuple(vision.eval()(torch.zeros(1, 3, vision.side, vision.side, dtype=torch.uint8)).shape)
    except Exception as error:  # of many kinds: each architecture takes pictures in its own way
        raise UserError(
            f"vision: {named} cannot be run on pictures of {vision.side} pixels "
            f"({type(error).__name__}: {_short(error)}); {VALID}"
        ) from None
    if len(shape) != 3 or shape[2] != vision.width:
        raise UserError(f"vision: {named} gives {shape}, not (pictures, patches, {vision.width}); {VALID}")


def _matters(vision: Vision, parameter: torch.Tensor) -> bool:
    """Whether the vectors of patches depend on a parameter: on those of a pooler or a head they do not."""
    black = torch.zeros(1, 3, vision.side, vision.side, dtype=torch.uint8)
    [gradient] = torch.autograd.grad(vision(black).float().sum(), [parameter], allow_unused=True)
    return gradient is not None


def _of_open_clip(settings: FlamingoSettings) -> Vision:
    try:
        import open_clip
        from open_clip.transformer import VisionTransformer
    except ImportError:
        raise UserError(f"vision: {settings.vision} is no folder, and open_clip is not installed") from None
    path = Path(settings.vision)
    config = _json(path) if path.suffix == ".json" and path.exists() else open_clip.get_model_config(settings.vision)
    if config is None:
        raise UserError(f"vision: {settings.vision} is neither a folder nor a model that open_clip knows")
    try:
        of = config["vision_cfg"]
        side = of["image_size"] if settings.vision_side is None else settings.vision_side
        tower = open_clip.CLIP(**{**config, "vision_cfg": {**of, "image_size": side}}).visual
    except Exception as error:  # of many kinds: a key that is missing, a size that does not fit
        reason = f"{type(error).__name__}: {_short(error)}"
        raise UserError(f"vision: open_clip makes no tower of {settings.vision} ({reason}); {VALID}") from None
    if not isinstance(tower, VisionTransformer):
        raise UserError(f"vision: {settings.vision} is a {type(tower).__name__} of open_clip; {VALID}")
    tower.output_tokens = True
    tower.final_ln_after_pool = settings.old_patch_tokens
    if settings.vision_weights is not None:
        weights = read(Path(settings.vision_weights))
        whole = {name.removeprefix("visual."): w for name, w in weights.items() if name.startswith("visual.")}
        try:
            tower.load_state_dict(whole or dict(weights))
        except RuntimeError as error:
            raise UserError(f"vision: {settings.vision_weights} is of another tower: {_short(error)}") from None
    made = OpenClipVision(
        tower.to(getattr(torch, settings.dtype)), side, of["width"], (side // of["patch_size"]) ** 2, MEAN, STD
    )
    _try(made, settings.vision)
    return made


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
