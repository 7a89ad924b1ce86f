"""The largest attention logit and the entropy of attention: both run away before attention does."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def attention_signs(query: Tensor, key: Tensor, allowed: Tensor | None = None, scale: float | None = None) -> Tensor:
    """Largest logit (absolute) and mean entropy in nats of softmax attention, as a tensor of two on the device.

    Shapes (..., queries, size) and (..., keys, size); `allowed`, boolean, broadcasts to (..., queries, keys). Queries
    that may attend to nothing do not count. It makes the whole matrix: for a sampled step, and a row of the batch.
    """
    with torch.no_grad():
        logits = (query.float() @ key.float().transpose(-1, -2)) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if allowed is None:
            allowed = torch.ones((), dtype=torch.bool, device=logits.device)
        allowed = allowed.expand_as(logits)
        asks = allowed.any(-1)
        weights = logits.masked_fill(~allowed, float("-inf")).softmax(-1).nan_to_num(0.0)
        entropy = -(weights * weights.clamp_min(1e-30).log()).sum(-1)
        mean = (entropy * asks).sum() / asks.sum().clamp_min(1)
        return torch.stack([logits.masked_fill(~allowed, 0.0).abs().max(), mean])


class AttentionSigns:
    """Where attention layers put their signs on sampled steps, by name; one copy to the host.

    A model that offers them has `sink: AttentionSigns | None` on its attention modules, and calls
    `sink.put(name, query, key, allowed)` where it is not None and `on`.
    """

    def __init__(self) -> None:
        self.on = False
        self.signs: dict[str, Tensor] = {}

    def start(self) -> None:
        """From now on signs are kept."""
        self.signs, self.on = {}, True

    def put(self, name: str, query: Tensor, key: Tensor, allowed: Tensor | None = None, scale: Any = None) -> None:
        """Keep those of one attention; the largest logit of several calls, the entropy of the last one."""
        if not self.on:
            return
        signs = attention_signs(query, key, allowed, scale)
        if name in self.signs:
            signs = torch.stack([torch.maximum(signs[0], self.signs[name][0]), signs[1]])
        self.signs[name] = signs

    def read(self) -> dict[str, dict[str, float]]:
        """`max_logit` and `entropy` by name; this rank's. Keeping ends."""
        self.on = False
        if not self.signs:
            return {}
        names = sorted(self.signs)
        values = torch.stack([self.signs[n] for n in names]).tolist()
        return {n: {"max_logit": v[0], "entropy": v[1]} for n, v in zip(names, values, strict=True)}
