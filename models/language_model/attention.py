"""Attention that keeps the documents of a row apart: each looks at itself alone, and nothing is padding.

A row is cut where a document ends, and torch's causal kernel runs on each piece: no mask of tokens x tokens is made,
and no pair of tokens of two documents is computed. Kernels for variable lengths would save the launches, some
microseconds for each document and block. It is registered with transformers as one more attention implementation, and
looks at no positions: those of Qwen-VL, of three axes, may be what they like. Models that also keep a state from token
to token (Mamba, Qwen3.5) are not packed; see `probe`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

NAME = "documents_apart"

_lengths: ContextVar[tuple[int, ...]] = ContextVar("lengths")


@contextmanager
def documents(lengths: Sequence[int]) -> Iterator[None]:
    """While inside, the row that is read has documents of these lengths, in tokens."""
    token = _lengths.set(tuple(lengths))
    try:
        yield
    finally:
        _lengths.reset(token)


def register() -> None:
    """Make `NAME` known to transformers."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(NAME, _apart)
    AttentionMaskInterface.register(NAME, _no_mask)


def _no_mask(*_: Any, **__: Any) -> None:
    return None


def _apart(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any) -> tuple[Any, None]:
    """As transformers calls it: (1, heads, tokens, width) in, (1, tokens, heads, width) out.

    Raises ValueError for what torch's kernel lacks: capped logits, sinks, biases of places. Such models read documents
    one by one.
    """
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    for name in ("softcap", "s_aux", "position_bias"):
        if options.get(name) is not None:
            raise ValueError(f"{type(module).__name__} has {name}")
    lengths = _lengths.get()
    window = options.get("sliding_window")
    out = []
    for q, k, v in zip(*(part.split(lengths, dim=2) for part in (query, key, value)), strict=True):
        band = _band(q.shape[2], window, q.device)
        made, _ = sdpa_attention_forward(module, q, k, v, band, scaling=options.get("scaling"), is_causal=True)
        out.append(made)
    return torch.cat(out, dim=1), None


def _band(length: int, window: int | None, device: Any) -> Any:
    """Which earlier tokens each sees, where a block's window is shorter than the document; None: all."""
    import torch

    if window is None or length <= window:
        return None
    at = torch.arange(length, device=device)
    behind = at[:, None] - at
    return ((behind >= 0) & (behind < window))[None, None]
