"""What a Flamingo is made from, wherever it lies: files on this machine, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.placement import cast
from obelics_pipeline.models.device.weight_files import read
from obelics_pipeline.models.flamingo.assembly import FlamingoModel, assemble
from obelics_pipeline.models.flamingo.compat import mosaic_embeddings, require
from obelics_pipeline.models.flamingo.weights import put_trained, put_vision


@dataclass(frozen=True, slots=True)
class Parts:
    """`language_model` is a folder as transformers saves it, tokenizer included; see `folder.Description`."""

    vision: Mapping[str, Any] | str
    vision_weights: Path
    language_model: Path
    checkpoint: Path
    cross_attention_every: int
    decoder_layers: str | None = None
    old_patch_tokens: bool = True
    trust_remote_code: bool = False


def build(parts: Parts, device: str, dtype: str) -> FlamingoModel:
    """A model on its device, all parameters of one type ("float32", "bfloat16", "float16").

    Raises `UserError` where the parts do not fit together or a package is missing.
    """
    require()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # of a worker, in the middle of a run's own display
    kind = getattr(torch, dtype)
    options = {"local_files_only": True, "trust_remote_code": parts.trust_remote_code}
    try:
        tokenizer = AutoTokenizer.from_pretrained(parts.language_model, **options)
        language_model, info = AutoModelForCausalLM.from_pretrained(
            parts.language_model, dtype=kind, weights_only=True, output_loading_info=True, **options
        )
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise UserError(f"Flamingo: {parts.language_model} is no language model of transformers: {reason}") from None
    if info["missing_keys"]:  # transformers would only warn, and draw them at random
        raise UserError(f"Flamingo: {parts.language_model} lacks {sorted(info['missing_keys'])[0]}; fetch it again")
    mosaic_embeddings(language_model)
    model = assemble(
        vision_config(parts.vision),
        language_model,
        tokenizer,
        parts.cross_attention_every,
        parts.decoder_layers,
        parts.old_patch_tokens,
    )
    put_vision(model.flamingo, read(parts.vision_weights), parts.vision_weights)
    put_trained(model.flamingo, read(parts.checkpoint), parts.checkpoint)
    cast(model.flamingo, kind)  # transformers 5 loads a checkpoint's type, and added layers are float32
    model.flamingo.to(device)
    return model


def vision_config(vision: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """A model config of open_clip. Raises `UserError` for a name that it does not know."""
    import open_clip

    if not isinstance(vision, str):
        return vision
    found = open_clip.get_model_config(vision)
    if found is None:
        raise UserError(f"Flamingo: open_clip knows no vision model {vision}; see open_clip.list_models()")
    # what the other keys choose (a text tower of transformers, say) is of no use here
    return {key: found[key] for key in ("embed_dim", "vision_cfg", "text_cfg", "quick_gelu") if key in found}
