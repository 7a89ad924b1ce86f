"""Files of weights: checked by their sha256, and read in forms that cannot run code."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obelics_pipeline.errors import UserError

SUFFIXES = (".safetensors", ".pt", ".bin")  # the last two by torch's unpickler of tensors alone (weights_only)


def check(path: Path, expected: str) -> None:
    """Raises `UserError` where a file has another sha256 than is expected of it, or is not there."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"Flamingo: {path} cannot be read: {error.strerror}") from None
    if found != expected:
        raise UserError(
            f"Flamingo: {path} is damaged or another file: its sha256 is {found}, {expected} is expected; fetch it anew"
        )


def read(path: Path) -> Mapping[str, Any]:
    """Tensors by name, on the CPU. Raises `UserError` where the file holds anything else."""
    import torch
    from safetensors.torch import load_file

    try:
        if path.suffix == ".safetensors":
            return dict(load_file(path))
        found = torch.load(path, map_location="cpu", weights_only=True)
        found = found.get("model_state_dict", found)  # open_flamingo's trainer puts its optimizer beside it
        return {str(name).removeprefix("module."): tensor for name, tensor in found.items()}  # of its DDP
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"Flamingo: {path} holds no weights that can be read without running code: {reason}") from None


def put_vision(flamingo: Any, weights: Mapping[str, Any], origin: Path) -> None:
    """Give the vision tower its weights: a tower's own, or those of a whole CLIP, whose names begin with `visual.`."""
    whole = {name.removeprefix("visual."): w for name, w in weights.items() if name.startswith("visual.")}
    try:
        flamingo.vision_encoder.load_state_dict(whole or dict(weights))
    except RuntimeError as error:
        raise UserError(f"Flamingo: {origin} is of another vision tower: {_first(error)}") from None


def put_trained(flamingo: Any, weights: Mapping[str, Any], origin: Path) -> None:
    """Give the layers that Flamingo adds their weights, and the language model what was trained with them.

    Raises `UserError` where one of these layers is not in the file, or the file holds what the model has not.
    """
    try:
        unknown = flamingo.load_state_dict(dict(weights), strict=False).unexpected_keys
    except RuntimeError as error:
        raise UserError(f"Flamingo: {origin} is of another model: {_first(error)}") from None
    added = {id(p) for part in _added(flamingo) for p in part.parameters()}
    names: dict[int, list[str]] = {}
    for name, parameter in flamingo.named_parameters(remove_duplicate=False):  # each layer goes by several names
        if id(parameter) in added:
            names.setdefault(id(parameter), []).append(name)
    lacking = [theirs[0] for theirs in names.values() if not any(name in weights for name in theirs)]
    if unknown or lacking:
        what = f"holds {unknown[0]}, which the model has not" if unknown else f"lacks {lacking[0]}"
        raise UserError(f"Flamingo: {origin} is of another model: it {what}; see cross_attention_every, language_model")


def trained(flamingo: Any) -> dict[str, Any]:
    """What `put_trained` wants: the resampler, the gated layers, and the language model's input embeddings."""
    embeddings = flamingo.lang_encoder.get_input_embeddings().weight
    wanted = {id(p) for part in _added(flamingo) for p in part.parameters()} | {id(embeddings)}
    return {name: p.detach().clone() for name, p in flamingo.named_parameters() if id(p) in wanted}


def _added(flamingo: Any) -> list[Any]:
    return [flamingo.perceiver, flamingo.lang_encoder.gated_cross_attn_layers]


def _first(error: Exception) -> str:
    """The first complaint of torch, which lists them all."""
    return " ".join(str(error).split())[:200]
