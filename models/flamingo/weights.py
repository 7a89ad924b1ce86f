"""Weights given to a Flamingo, and taken from one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError


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
