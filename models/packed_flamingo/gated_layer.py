"""A gated cross-attention layer: what it adds to the tokens of a language model for the images that they look at."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from obelics_pipeline.models.packed_flamingo.attention import Attention, norm
from obelics_pipeline.models.packed_flamingo.feed_forward import FeedForward, Gate
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings


@dataclass(frozen=True)
class Sight:
    """What the tokens of a batch see.

    `latents` (rows, images x latents, width); `mask` bool (rows, 1, tokens, images x latents); `has_image` bool
    (rows, tokens, 1). Tokens without an image have a mask of ones: attention over nothing would be no number.
    """

    latents: torch.Tensor
    mask: torch.Tensor
    has_image: torch.Tensor


class GatedLayer(nn.Module):
    """Attention to images, then a feed-forward; each behind a gate. At first it changes nothing."""

    def __init__(self, settings: FlamingoSettings, width: int, width_seen: int) -> None:
        super().__init__()
        self.attention_norm = norm(settings.norm, width)
        self.attention = Attention(settings, width, width_seen)
        self.attention_gate = Gate(settings, width)
        self.ffn_norm = norm(settings.norm, width)
        self.ffn = FeedForward(settings, width)
        self.ffn_gate = Gate(settings, width)
        # behind the two matrices that write to the residual, as in NormFormer (arXiv 2110.09456)
        self.attention_post = norm(settings.norm, width) if settings.post_norm else nn.Identity()
        self.ffn_post = norm(settings.norm, width) if settings.post_norm else nn.Identity()
        self.text_only_mlp = settings.text_only_mlp
        self.checkpointing = settings.checkpointing

    def forward(
        self, x: torch.Tensor, latents: torch.Tensor, mask: torch.Tensor, has_image: torch.Tensor
    ) -> torch.Tensor:
        """`x` (rows, tokens, width) with what the layer adds; see `Sight` for the others."""
        if self.checkpointing and torch.is_grad_enabled():
            kept: torch.Tensor = checkpoint(self._forward, x, latents, mask, has_image, use_reentrant=False)
            return kept
        return self._forward(x, latents, mask, has_image)

    def _forward(
        self, x: torch.Tensor, latents: torch.Tensor, mask: torch.Tensor, has_image: torch.Tensor
    ) -> torch.Tensor:
        seen = self.attention(self.attention_norm(self._own(x)), self._own(latents), mask)
        x = x + _where(has_image, self.attention_gate(self.attention_post(seen))).to(x.dtype)
        made = self.ffn_gate(self.ffn_post(self.ffn(self.ffn_norm(self._own(x)))))
        return x + (made if self.text_only_mlp else _where(has_image, made)).to(x.dtype)

    def _own(self, x: torch.Tensor) -> torch.Tensor:
        """In the type of this layer's weights, which may be another than the language model's."""
        return x if torch.is_autocast_enabled(x.device.type) else x.to(self.attention.q.weight.dtype)


def _where(has_image: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.where(has_image, x, x.new_zeros(()))
