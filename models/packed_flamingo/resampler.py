"""Any number of features of an image, as a fixed number of latents."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from obelics_pipeline.models.packed_flamingo.attention import Attention, norm
from obelics_pipeline.models.packed_flamingo.feed_forward import FeedForward
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings


class ResamplerLayer(nn.Module):
    """Latents look at the features and at each other, then pass a feed-forward."""

    def __init__(self, settings: FlamingoSettings, width: int) -> None:
        super().__init__()
        self.features_norm = norm(settings.norm, width)
        self.attention_norm = norm(settings.norm, width)
        self.attention = Attention(settings, width, width)
        self.ffn_norm = norm(settings.norm, width)
        self.ffn = FeedForward(settings, width)
        self.attention_post = norm(settings.norm, width) if settings.post_norm else nn.Identity()
        self.ffn_post = norm(settings.norm, width) if settings.post_norm else nn.Identity()

    def forward(self, latents: torch.Tensor, features: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """`latents` (images, n, width), `features` (images, m, width), `mask` bool (images, 1, 1, m + n)."""
        own = self.attention_norm(latents)
        seen = torch.cat([self.features_norm(features), own], dim=1)
        latents = latents + self.attention_post(self.attention(own, seen, mask))
        made: torch.Tensor = latents + self.ffn_post(self.ffn(self.ffn_norm(latents)))
        return made


class Resampler(nn.Module):
    """The perceiver of Flamingo (arXiv 2204.14198, section 3.1.1). Images know nothing of each other."""

    def __init__(self, settings: FlamingoSettings, width: int) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.empty(settings.latents, width))
        self.layers = nn.ModuleList(ResamplerLayer(settings, width) for _ in range(settings.resampler_depth))
        self.norm = norm(settings.norm, width)
        self.checkpointing = settings.checkpointing

    def forward(self, features: torch.Tensor, real: torch.Tensor | None = None) -> torch.Tensor:
        """Latents (images, n, width) of features (images, m, width); those that are not `real` (images, m) unseen."""
        if not torch.is_autocast_enabled(features.device.type):
            features = features.to(self.latents.dtype)
        latents = self.latents.to(features.dtype).expand(len(features), -1, -1)
        mask = None
        if real is not None:
            mask = torch.cat([real, real.new_ones(len(real), latents.shape[1])], dim=1)[:, None, None]
        for layer in self.layers:
            if self.checkpointing and torch.is_grad_enabled():
                latents = checkpoint(layer, latents, features, mask, use_reentrant=False)
            else:
                latents = layer(latents, features, mask)
        made: torch.Tensor = self.norm(latents)
        return made
