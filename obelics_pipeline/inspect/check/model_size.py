"""How large a model is, from its files, its config.json or its name: nothing is loaded and nothing downloaded."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from obelics_pipeline.models.flamingo.folder import LANGUAGE_MODEL
from obelics_pipeline.models.language_model.files import repository

CONFIG = "config.json"
IN_NAME = re.compile(r"(\d+(?:\.\d+)?)([bm])(?![a-z])", re.IGNORECASE)  # 3B, 500M, 1.7b
PATCH = 14  # pixels, of the towers of Qwen2-VL, SigLIP and CLIP ViT-L, where a config.json does not say it
MERGED = 2  # patches by side that make a token of Qwen2-VL, where only a name tells of a model


@dataclass(frozen=True)
class ModelSize:
    """Parameters, and the source of their number. The others are 0 where no config.json says them.

    `width` numbers stand for a token, `inner` in a feed-forward layer, one logit for each word of the `vocabulary`.
    `tower` are the parameters that look at images, in patches of `patch` pixels, `merged` by side to one token, or all
    of them to `latents`. `side` of an image in pixels is 0 where the tower takes any.
    """

    parameters: float
    source: str
    width: int = 0
    inner: int = 0
    vocabulary: int = 0
    tower: float = 0.0
    patch: int = PATCH
    merged: int = 1
    latents: int = 0
    side: int = 0
    sees: bool = True

    def patches(self, pixels: int) -> float:
        """Patches of an image; `pixels` at most are looked at where the tower takes any size."""
        return (self.side // self.patch) ** 2 if self.side else pixels / self.patch**2

    def image_tokens(self, pixels: int) -> float:
        """Tokens of an image in the sequence."""
        return (self.latents or self.patches(pixels) / self.merged**2) if self.sees else 0.0


def size_of(name_or_folder: str) -> ModelSize | None:
    """The size of a model in a folder, in the hub's cache, or by its name; None where none of these says it."""
    folder = _folder(name_or_folder)
    told = _of_config(folder) if folder is not None else None
    counted = _in_files(folder) if folder is not None else 0
    if counted:
        return replace(told or ModelSize(0, ""), parameters=float(counted), source="its files")
    if told is not None and told.parameters:
        return told
    found = IN_NAME.search(Path(name_or_folder).name)
    if found is None:
        return None
    return ModelSize(float(found[1]) * (1e9 if found[2] in "bB" else 1e6), "its name", merged=MERGED)


def _folder(name_or_folder: str) -> Path | None:
    folder = Path(name_or_folder).expanduser()
    if folder.is_dir():
        return folder
    try:
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(repository(name_or_folder), CONFIG)
    except (ImportError, ValueError):  # the package is an extra's; the name is not one of the hub
        return None
    return Path(cached).parent if isinstance(cached, str) else None


def _in_files(folder: Path) -> int:
    """Numbers in the safetensors files of a folder, by their headers."""
    return sum(
        math.prod(tensor["shape"])
        for path in sorted(folder.rglob("*.safetensors"))
        for name, tensor in _header(path).items()
        if name != "__metadata__"
    )


def _header(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(length, 1 << 27)))
    except (OSError, ValueError, struct.error):
        return {}  # loading says what is wrong with it
    return header if isinstance(header, dict) else {}


def _configs(folder: Path) -> tuple[Path, Path]:
    return folder / CONFIG, folder / LANGUAGE_MODEL / CONFIG  # the second: of a Flamingo


def _of_config(folder: Path) -> ModelSize | None:
    try:
        config = json.loads(next(path for path in _configs(folder) if path.is_file()).read_bytes())
    except StopIteration:
        return None
    except (OSError, ValueError):
        return None
    text = config.get("text_config") or config
    width, inner, layers = _block(text)
    heads = _first(text, "num_attention_heads", "n_head", "n_heads") or 1
    each = _first(text, "head_dim") or width // heads
    keys = (_first(text, "num_key_value_heads") or heads) * each
    words = _first(text, "vocab_size")
    gated = 3 if str(text.get("hidden_act", "")).endswith(("silu", "swish", "gelu_pytorch_tanh")) else 2
    tables = 1 if text.get("tie_word_embeddings", config.get("tie_word_embeddings", False)) else 2
    own = layers * (2 * width * heads * each + 2 * width * keys + gated * width * inner) + tables * words * width
    seen = config.get("vision_config") or {}
    tower_width, tower_inner, tower_layers = _block(seen)
    tower_gated = 3 if seen.get("hidden_act") == "silu" else 2
    tower = tower_layers * (4 * tower_width**2 + tower_gated * tower_width * tower_inner)
    return ModelSize(
        parameters=float(own + tower),
        source=f"its {CONFIG}",
        width=width,
        inner=inner,
        vocabulary=words,
        tower=float(tower),
        patch=_first(seen, "patch_size") or PATCH,
        merged=_first(config, "scale_factor") or _first(seen, "spatial_merge_size") or 1,
        latents=_first(config.get("perceiver_config") or {}, "resampler_n_latents"),
        side=_first(seen, "image_size"),
        sees=bool(seen),
    )


def _block(config: Mapping[str, Any]) -> tuple[int, int, int]:
    """Width, width of the feed-forward layer, and number of the blocks of a text model or a tower."""
    # hidden_size of the tower of Qwen2-VL is what it gives, not its own
    width = _first(config, "embed_dim", "hidden_size", "n_embd", "d_model")
    inner = _first(config, "intermediate_size", "n_inner", "ffn_dim") or int(width * (_first(config, "mlp_ratio") or 4))
    return width, inner, _first(config, "num_hidden_layers", "depth", "n_layer", "n_layers")


def _first(config: Mapping[str, Any], *names: str) -> int:
    """The first of some keys that holds a number; 0 where no key does. Families have words of their own."""
    found = (config.get(name) for name in names)
    return next((int(value) for value in found if isinstance(value, int | float) and value), 0)
