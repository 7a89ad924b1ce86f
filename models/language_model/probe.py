"""Whether a model can be read as it is read here: tried on a few tokens before any document is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_model.attention import NAME
from obelics_pipeline.models.language_model.model import LanguageModel, hidden
from obelics_pipeline.models.language_model.windows import Window

TOKENS = 12  # of the probe's longer document
# Between two ways of computing the same: root mean square, in standard deviations of the logits. In a random Llama of
# 30 blocks, bfloat16 is .015 to .07 from float32, and a document that also reads another 1.4 from one that does not.
TOLERANCE, ROUNDED = 1e-3, 0.15


def probed(model: LanguageModel, whole: Any) -> LanguageModel:
    """The model, packed where that gives what `whole`, the model of transformers, gives for each document alone.

    Models that keep a state from token to token, or whose attention torch's kernel lacks, read documents one by one.
    Raises `UserError` where logits are others then too, or not finite.
    """
    import torch

    if model.vision is not None:  # a preparation that fails for one image would be taken for a damaged image
        noise = np.random.default_rng(0).integers(0, 256, (40, 56, 3), dtype=np.uint8)
        model.vision.encode([model.vision.prepare(noise)], 1)
    windows = [_window(model, TOKENS, 0), _window(model, TOKENS - 4, 1)]
    with torch.inference_mode():
        theirs = [_theirs(model, whole, window) for window in windows]
        if not torch.isfinite(torch.cat(theirs)).all():
            raise UserError(
                f"language model: {_name(whole)} gives NaN or infinity; its weights are damaged: fetch it again"
            )
        own = model.text.config._attn_implementation
        if model.text._can_set_attn_implementation():
            model.text.set_attn_implementation(NAME)
            if _agree(model, [windows], theirs):
                return replace(model, packs=True)
            model.text.set_attn_implementation(own)
        if _agree(model, [[window] for window in windows], theirs):
            return replace(model, packs=False)
    raise UserError(
        f"language model: {_name(whole)} does more to its logits than is known here; use a causal language model such "
        "as llama, qwen2, gpt_neox or opt"
    )


def _name(whole: Any) -> str:
    return type(whole).__name__


def _window(model: LanguageModel, length: int, seed: int) -> Window:
    words = [i for i in range(min(model.head.words, len(model.tokenizer))) if i not in model.marks.ids]
    ids = np.random.default_rng(seed).choice(np.array(words, np.int64), length)
    scored = np.ones(length, np.bool_)
    scored[0] = False
    return Window(ids, scored, ())


def _theirs(model: LanguageModel, whole: Any, window: Window) -> Any:
    import torch

    return whole(input_ids=torch.from_numpy(window.ids)[None].to(model.device), use_cache=False).logits[0, :-1].float()


def _agree(model: LanguageModel, rows: Sequence[Sequence[Window]], theirs: Sequence[Any]) -> bool:
    import torch

    expected = torch.cat(list(theirs))
    try:
        found = torch.cat([model.head.logits(hidden(model, row)) for row in rows])
    except Exception:  # of many kinds: each architecture takes positions and masks in its own way
        return False
    exact = next(model.text.parameters()).dtype in (torch.float32, torch.float64)
    return bool((found - expected).square().mean().sqrt() <= (TOLERANCE if exact else ROUNDED) * expected.std())
