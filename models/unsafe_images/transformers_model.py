"""An image classifier of transformers, by a folder or by the hub's name. Weights are safetensors; no code is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.memory import in_halves
from obelics_pipeline.models.device.placement import cast, check_dtype, chosen_device, chosen_dtype
from obelics_pipeline.models.device.torchvision_import import mend_torchvision
from obelics_pipeline.models.device.weight_files import check
from obelics_pipeline.models.pictures.pixels import Picture
from obelics_pipeline.models.unsafe_images.classifier import Outputs

WEIGHTS = "model.safetensors"
Channels = tuple[float, float, float]


@dataclass(frozen=True)
class TransformersModel:
    """The model on its device, and the folder of its files (of the hub's cache, where it came from there)."""

    model: Any
    folder: Path

    @property
    def id2label(self) -> dict[int, str]:
        """Names of its outputs by number."""
        return {int(number): str(name) for number, name in (self.model.config.id2label or {}).items()}

    @property
    def side(self) -> int | None:
        """Pixels of the square that it was made for, where its config says one."""
        side = getattr(self.model.config, "image_size", None)
        return side if isinstance(side, int) else None

    def run(self, pictures: Sequence[Picture], mean: Channels, std: Channels) -> Outputs:
        """Its logits, a row per picture of one size. Raises torch's error where one alone does not fit the device."""
        import torch

        with torch.inference_mode():
            rows = in_halves(lambda part: self._logits(part, mean, std), pictures)
            return torch.stack(rows).cpu().numpy() if rows else np.empty((0, 0), np.float32)

    def _logits(self, pictures: Sequence[Picture], mean: Channels, std: Channels) -> Any:
        import torch

        one = next(self.model.parameters())
        centre, spread = (torch.tensor(values, device=one.device).view(3, 1, 1) for values in (mean, std))
        raw = torch.from_numpy(np.stack(pictures)).to(one.device)
        pixels = (raw.permute(0, 3, 1, 2).float() / 255 - centre) / spread
        return self.model(pixel_values=pixels.to(one.dtype)).logits.float()


def load(model: str, sha256: str | None, device: str, dtype: str, setting: str) -> TransformersModel:
    """Load the model that `setting` of a config names.

    Raises UserError for what is missing, of another sha256, or no image classifier.
    """
    try:
        import torch

        mend_torchvision()
        from transformers import AutoModelForImageClassification
    except ImportError as error:
        raise UserError(
            f"{setting}.model: {model} is no file of ONNX, and transformers cannot be loaded (no module "
            f"{error.name}); pip install 'obelics-pipeline[flamingo]', torch for this machine first"
        ) from None
    check_dtype(dtype)
    device = chosen_device(device)
    folder = files_of(model, setting)
    if sha256 is not None:
        check(folder / WEIGHTS, sha256)
    try:
        made, about = AutoModelForImageClassification.from_pretrained(
            str(folder), use_safetensors=True, trust_remote_code=False, local_files_only=True, output_loading_info=True
        )
    except Exception as error:  # many kinds: of a config, of weights, of a model that is none for images
        raise UserError(f"{setting}.model: {model}: {_short(error)}") from None
    lacking = sorted(about["missing_keys"])  # transformers makes them up at random, and warns
    if lacking:
        raise UserError(f"{setting}.model: {model} is no trained image classifier: {WEIGHTS} lacks {lacking[0]}")
    cast(made, getattr(torch, chosen_dtype(dtype, device)))
    return TransformersModel(made.requires_grad_(False).eval().to(device), folder)


def files_of(model: str, setting: str) -> Path:
    """The folder of a model's files; by a name of the hub they are fetched, or found in its cache. Raises UserError."""
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if path.exists() or model.count("/") != 1 or model.startswith((".", "/", "~")):
        raise UserError(
            f"{setting}.model: {model} is neither a file that ends in .onnx, nor a folder, nor a name of "
            "the hub (owner/name)"
        )
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(model, allow_patterns=["config.json", "preprocessor_config.json", WEIGHTS]))
    except Exception as error:  # many kinds: of HTTP, of the hub, of the disk
        raise UserError(
            f"{setting}.model: {model} cannot be fetched: {_short(error)}; name a folder of it instead"
        ) from None


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
