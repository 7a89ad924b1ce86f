"""A CLIP that is ready to compare: towers with their weights, tokenizer, and vectors of length one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.memory import in_halves
from obelics_pipeline.models.device.placement import cast
from obelics_pipeline.models.pictures.pixels import Picture
from obelics_pipeline.models.similarity.architecture import Architecture, Preprocessing
from obelics_pipeline.models.similarity.words import Row, Words, words

Vectors = npt.NDArray[np.float32]  # (n, width), each of length one

# Not of the towers: the temperature of training, and sizes that OpenAI's archives hold as tensors.
NO_WEIGHTS = ("logit_scale", "logit_bias", "input_resolution", "context_length", "vocab_size")
POSITION_IDS = "text.transformer.embeddings.position_ids"  # older transformers saved them: 0, 1, 2, …


@dataclass(frozen=True)
class Clip:
    """open_clip's model with what is needed to feed it; `image_side` in pixels, `dtype` of torch."""

    towers: Any
    words: Words
    preprocessing: Preprocessing
    image_side: int
    dtype: Any

    @property
    def device(self) -> Any:
        """Where its parameters are."""
        return next(self.towers.parameters()).device

    def image_vectors(self, pictures: Sequence[Picture], batch: int) -> Vectors:
        """A vector for each picture. Raises torch's error where one alone does not fit the device."""
        return self._vectors(self._images, pictures, batch)

    def text_vectors(self, rows: Sequence[Row], batch: int) -> Vectors:
        """A vector for each row of tokens. Raises torch's error where one alone does not fit the device."""
        return self._vectors(self._texts, rows, batch)

    def _vectors(self, encode: Callable[[Sequence[Any]], Any], items: Sequence[Any], batch: int) -> Vectors:
        """The product of bfloat16 towers is normalised in float32, and copied to the host once."""
        import torch
        from torch.nn.functional import normalize

        with torch.inference_mode():
            found = [
                vector
                for i in range(0, len(items), batch)
                for vector in in_halves(lambda part: normalize(encode(part).float(), dim=-1), items[i : i + batch])
            ]
            return torch.stack(found).cpu().numpy() if found else np.empty((0, 0), np.float32)

    def _images(self, pictures: Sequence[Picture]) -> Any:
        import torch

        device = self.device
        mean, std = (
            torch.tensor(values, device=device).view(3, 1, 1)
            for values in (self.preprocessing.mean, self.preprocessing.std)
        )
        raw = torch.from_numpy(np.stack(pictures)).to(device)
        pixels = (raw.permute(0, 3, 1, 2).float() / 255 - mean) / std
        return self.towers.encode_image(pixels.to(self.dtype))

    def _texts(self, rows: Sequence[Row]) -> Any:
        import torch

        return self.towers.encode_text(torch.tensor(rows, device=self.device))


def build(of: Architecture, weights: Mapping[str, Any], origin: Path, device: str, dtype: str) -> Clip:
    """A CLIP on its device, its parameters of one type ("float32", "bfloat16", "float16").

    `origin` is the file that the weights came from. Raises `UserError` if the architecture cannot be built, or
    the weights are of another one.
    """
    import torch

    towers = _towers(of)
    tokens = words(of)
    side = getattr(towers.visual, "image_size", None) or of.config["vision_cfg"].get("image_size", 224)
    if not isinstance(side, int) and len(set(side)) > 1:
        raise UserError(f"similarity: model: vision_cfg.image_size {tuple(side)}; only square images can be served")
    put(towers, weights, origin)
    kind = getattr(torch, dtype)
    cast(towers, kind)
    towers.requires_grad_(False).eval().to(device)
    return Clip(towers, tokens, of.preprocessing, side if isinstance(side, int) else int(side[0]), kind)


def _towers(of: Architecture) -> Any:
    """The class that open_clip's `create_model` takes for a config, with random weights and nothing downloaded."""
    import open_clip

    config = {key: dict(value) if isinstance(value, dict) else value for key, value in of.config.items()}
    try:
        custom = config.pop("custom_text", False) or "hf_model_name" in config["text_cfg"]
        if "timm_model_name" in config["vision_cfg"]:
            config["vision_cfg"]["timm_model_pretrained"] = False
        if "hf_model_name" in config["text_cfg"]:
            config["text_cfg"]["hf_model_pretrained"] = False
        if not custom:
            return open_clip.CLIP(**config)
        return (open_clip.CoCa if "multimodal_cfg" in config else open_clip.CustomTextCLIP)(**config)
    except Exception as error:  # a wrong key is a TypeError, a wrong size whatever torch says, a text tower may be HTTP
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]
        raise UserError(f"similarity: model {of.name or of.folder} is no architecture of open_clip: {reason}") from None


def put(towers: Any, weights: Mapping[str, Any], origin: Path) -> None:
    """Give the towers their weights, in any form that open_clip reads. Raises `UserError` where they do not fit."""
    from open_clip.convert import convert_state_dict
    from open_clip.model import convert_to_custom_text_state_dict

    try:
        state = convert_state_dict(towers, dict(weights))
        if "positional_embedding" in state and not hasattr(towers, "positional_embedding"):
            state = convert_to_custom_text_state_dict(state)
        state = {key: value for key, value in state.items() if key not in (*NO_WEIGHTS, POSITION_IDS)}
        fitted = towers.load_state_dict(state, strict=False)
    except Exception as error:  # torch: of another size; the conversions: whatever the file holds
        raise UserError(f"similarity: {origin} is of another model: {' '.join(str(error).split())[:200]}") from None
    lacking = [key for key in fitted.missing_keys if key not in NO_WEIGHTS]
    if lacking or fitted.unexpected_keys:
        what = f"lacks {lacking[0]}" if lacking else f"holds {fitted.unexpected_keys[0]}, which the model has not"
        raise UserError(f"similarity: {origin} is of another model: it {what}; see model")
