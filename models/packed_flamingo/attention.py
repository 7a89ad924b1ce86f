"""Attention from one set of vectors to another, with queries and keys that are kept from growing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from obelics_pipeline.models.packed_flamingo.settings import Activation, FlamingoSettings, Norm

ACTIVATIONS: dict[Activation, type[nn.Module]] = {"gelu": nn.GELU, "relu": nn.ReLU, "silu": nn.SiLU}


class RmsNorm(nn.RMSNorm):
    """RMSNorm (arXiv 1910.07467) whose weight takes the type of what it norms: of two types, torch has no kernel."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Vectors along the last axis, of mean square 1, times the weight."""
        return functional.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)


def norm(kind: Norm, width: int) -> nn.Module:
    """A norm over vectors of this width; that of kind "rms" has no bias."""
    return RmsNorm(width, eps=1e-6) if kind == "rms" else nn.LayerNorm(width)


def activation(kind: Activation) -> nn.Module:
    """The function between the two matrices of a feed-forward."""
    return nn.GELU(approximate="tanh") if kind == "gelu_tanh" else ACTIVATIONS[kind]()


@dataclass(frozen=True)
class AttentionShape:
    """Of the attention logits of one pass: the largest in absolute value, and the mean entropy in nats of a row."""

    largest: torch.Tensor
    entropy: torch.Tensor


class UnitLength(nn.Module):
    """Vectors of length root(width): queries and keys so bounded that no logit is over root(width)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The direction of each vector along the last axis."""
        return functional.normalize(x.float(), dim=-1).mul(x.shape[-1] ** 0.5).to(x.dtype)


def qk_norm(settings: FlamingoSettings) -> nn.Module:
    """What each head's queries, or keys, pass through."""
    if settings.qk_norm == "none":
        return nn.Identity()
    return UnitLength() if settings.qk_norm == "l2" else norm(settings.qk_norm, settings.head_dim)


class Attention(nn.Module):
    """Multi-head attention of queries of width `width` over keys and values that are made from width `width_seen`."""

    def __init__(self, settings: FlamingoSettings, width: int, width_seen: int) -> None:
        super().__init__()
        inner = settings.heads * settings.head_dim
        self.heads = settings.heads
        self.q = nn.Linear(width, inner, bias=settings.bias)
        self.k = nn.Linear(width_seen, inner, bias=settings.bias)
        self.v = nn.Linear(width_seen, inner, bias=settings.bias)
        self.o = nn.Linear(inner, width, bias=settings.bias)
        self.q_norm, self.k_norm = qk_norm(settings), qk_norm(settings)
        self.watched: AttentionShape | None = None
        self.watching = False

    def forward(self, x: torch.Tensor, seen: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """`x` (batch, n, width) looks at `seen` (batch, m, width_seen) where `mask` (batch, 1, n or 1, m) is True."""
        q, k, v = (self._split(part) for part in (self.q(x), self.k(seen), self.v(seen)))
        q, k = self.q_norm(q).to(v.dtype), self.k_norm(k).to(v.dtype)
        if self.watching:
            self.watched = _shape(q.detach(), k.detach(), mask)
        out = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        made: torch.Tensor = self.o(out.transpose(1, 2).flatten(2))
        return made

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def _shape(q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor | None) -> AttentionShape:
    logits = q.float() @ k.float().transpose(-1, -2) * q.shape[-1] ** -0.5
    allowed = torch.ones_like(logits, dtype=torch.bool) if mask is None else mask.expand_as(logits)
    p = logits.masked_fill(~allowed, float("-inf")).softmax(-1)
    return AttentionShape(logits.masked_fill(~allowed, 0).abs().max(), -torch.xlogy(p, p).sum(-1).mean())


@contextmanager
def watched_attention(model: nn.Module) -> Iterator[dict[str, Attention]]:
    """While inside, each `Attention` of a model keeps in `watched` the shape of its last pass; by name.

    It computes its logits a second time: for a step now and then.
    """
    found = {name: part for name, part in model.named_modules() if isinstance(part, Attention)}
    for part in found.values():
        part.watching = True
    try:
        yield found
    finally:
        for part in found.values():
            part.watching, part.watched = False, None
