"""A causal language model of transformers as a Flamingo uses it: its blocks, its words, documents packed in a row."""

from __future__ import annotations

from collections.abc import Collection
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from torch import nn

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.torchvision_import import mend_torchvision
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings

TOLERANCE = 1e-2  # between two ways of computing the same in bfloat16, of the size of the numbers
PROBE = 6  # tokens of each document of the probe
VALID = "use a causal language model with attention in all blocks, such as llama, qwen2, opt, gpt_neox or mpt"


def open_language_model(settings: FlamingoSettings) -> Any:
    """The language model of a folder, without dropout. Raises `UserError` where it cannot be had."""
    mend_torchvision()
    from transformers import AutoConfig, AutoModelForCausalLM

    folder = Path(settings.language_model)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        wanted = _causal(config, folder)
        for name, value in config.to_dict().items():
            if isinstance(value, float) and ("drop" in name or "pdrop" in name):
                setattr(config, name, 0.0)
        sdpa = settings.attention != "sdpa" or wanted._supports_sdpa
        model, told = AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            local_files_only=True,
            trust_remote_code=False,  # or a terminal is asked whether to run the folder's code
            output_loading_info=True,
            dtype=getattr(torch, settings.dtype),
            attn_implementation=settings.attention if sdpa else "eager",  # a few know no other (MPT)
        )
    except UserError:
        raise
    except Exception as error:  # of many kinds: a missing file, JSON, another version
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"language model: transformers cannot read {folder}: {reason}") from None
    refuse_missing("language model", folder, told["missing_keys"])
    return model


def _causal(config: Any, folder: Path) -> Any:
    """The class of a causal language model of this config. Raises `UserError` where transformers has none."""
    from transformers import AutoModelForCausalLM

    try:
        return AutoModelForCausalLM._model_mapping[type(config)]
    except KeyError:
        raise UserError(f"language model: {folder} is of type {config.model_type}, not causal; {VALID}") from None


def refuse_missing(part: str, folder: Path, names: Collection[str]) -> None:
    """Raises `UserError` where a model's files lack weights, in whose place transformers draws random ones."""
    if names:
        others = f" and {len(names) - 1} others" if len(names) > 1 else ""
        raise UserError(f"{part}: {folder} lacks weights that its config wants: {min(names)}{others}; fetch it again")


def decoder_layers(model: Any) -> tuple[str, nn.ModuleList]:
    """The blocks of a causal language model, and their name in it.

    They are the one list with as many modules as the config says there are layers. Raises `UserError` where there is
    none or more than one such.
    """
    count = model.config.get_text_config().num_hidden_layers
    found = [(n, m) for n, m in model.named_modules() if isinstance(m, nn.ModuleList) and len(m) == count]
    outer = [(n, m) for n, m in found if not any(n.startswith(f"{other}.") for other, _ in found)]
    if len(outer) != 1:
        names = ", ".join(name for name, _ in outer) or "none"
        raise UserError(
            f"language model: {type(model).__name__} should have one list of {count} blocks; found: {names}; "
            "use another causal language model"
        )
    return outer[0]


def body(model: Any) -> Any:
    """What of a causal language model gives the vectors that its head turns into logits."""
    return model.base_model


def slides(config: Any) -> bool:
    """Whether some of its blocks see a window of tokens only, by a mask that they make themselves."""
    config = config.get_text_config()
    kinds = getattr(config, "layer_types", None) or ()
    window = getattr(config, "sliding_window", None)
    return any(kind != "full_attention" for kind in kinds) or (window is not None and not kinds)


def packed_mask(model: Any, segment: torch.Tensor, dtype: torch.dtype) -> Any:
    """What keeps the documents of a row apart, as the language model's attention takes it.

    `segment` (rows, tokens). None if the model does so by itself, by positions that begin at 0 again: models whose
    blocks slide, which a mask of ours would stop. Transformers then makes the masks that they need. With flex_attention
    attention reads a mask of blocks of 128 x 128 tokens, and no logits of tokens x tokens are kept. But making it is
    not free of them: torch's `create_block_mask`, not compiled, makes one mask of (rows, tokens, tokens) booleans, a
    byte each, and drops it once the blocks are known. The others keep theirs for the whole pass.
    """
    if slides(model.config):
        return None
    implementation = model.config._attn_implementation
    if implementation == "flex_attention":
        return _block_mask(segment)
    n = segment.shape[1]
    causal = torch.ones(n, n, dtype=torch.bool, device=segment.device).tril()
    allowed = (segment[:, :, None] == segment[:, None, :])[:, None] & causal
    if implementation == "sdpa":
        return allowed
    return torch.zeros_like(allowed, dtype=dtype).masked_fill(~allowed, torch.finfo(dtype).min)


def _block_mask(segment: torch.Tensor) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask

    def allowed(row: Any, _: Any, at: Any, seen: Any) -> Any:
        return (segment[row, at] == segment[row, seen]) & (at >= seen)

    rows, n = segment.shape
    return create_block_mask(allowed, rows, None, n, n, device=segment.device)


def logit_scale(config: Any) -> float:
    """What a language model multiplies its logits by; the names are those of transformers."""
    config = config.get_text_config()
    scale = getattr(config, "logit_scale", None)
    divided = getattr(config, "logits_scaling", None)
    return (1.0 if not isinstance(scale, int | float) else float(scale)) / (1.0 if divided is None else float(divided))


def logit_cap(config: Any) -> float | None:
    """Where a language model softly caps its logits (Gemma 2); None: nowhere."""
    cap: float | None = getattr(config.get_text_config(), "final_logit_softcapping", None)
    return cap


def check(model: Any, words: int) -> None:
    """Raises `UserError` where a language model does not keep packed documents apart, or its logits are not its head's.

    A row of two documents of a few tokens is compared with each alone, on the device where the model is.
    """
    try:
        with torch.no_grad():
            _check(model, words)
    except UserError:
        raise
    except Exception as error:  # of many kinds: each architecture takes masks and positions in its own way
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"language model: {type(model).__name__} cannot be run on packed documents "
            f"({type(error).__name__}: {reason}); {VALID}"
        ) from None


def _check(model: Any, words: int) -> None:
    device = next(model.parameters()).device
    ids = (torch.arange(2 * PROBE, device=device) * 7919 % words)[None]
    segment = (torch.arange(2 * PROBE, device=device) // PROBE)[None]
    position = (torch.arange(2 * PROBE, device=device) % PROBE)[None]
    embedded = model.get_input_embeddings()(ids)
    both = run(model, embedded, segment, position)
    alone = [
        run(model, embedded[:, part], segment[:, part], position[:, part])
        for part in (slice(None, PROBE), slice(PROBE, None))
    ]
    if not torch.isfinite(torch.cat(alone, 1)).all():
        raise UserError(
            f"language model: {type(model).__name__} gives NaN or infinity; its weights are damaged: fetch them again"
        )
    if not _near(both, torch.cat(alone, 1)):
        raise UserError(
            f"language model: {type(model).__name__} does not keep packed documents apart; use one with attention in "
            "all blocks, or set attention to another of sdpa, eager"
        )
    cap, head = logit_cap(model.config), model.get_output_embeddings()
    logits = head(both[:, :PROBE]) * logit_scale(model.config)
    logits = logits if cap is None else cap * torch.tanh(logits / cap)
    theirs = model(input_ids=ids[:, :PROBE], use_cache=False).logits
    if not _near(logits, theirs):
        raise UserError(f"language model: {type(model).__name__} does more to its logits than is known here; {VALID}")


def _near(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool((a.float() - b.float()).abs().max() <= TOLERANCE * b.float().abs().max())


def run(model: Any, embedded: torch.Tensor, segment: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    """Vectors (rows, tokens, width) behind the last norm, of packed rows of embedded tokens."""
    inner = body(model)
    # a model without positions of its own (ALiBi) takes none; distances are all that it knows
    given = {"position_ids": position} if "position_ids" in signature(inner.forward).parameters else {}
    mask = packed_mask(model, segment, embedded.dtype)
    hidden: torch.Tensor = inner(inputs_embeds=embedded, attention_mask=mask, use_cache=False, **given)[0]
    return hidden
