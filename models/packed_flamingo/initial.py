"""First weights of what a Flamingo adds."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings


def draw(model: Any, settings: FlamingoSettings) -> None:
    """Draw the weights of the resampler and the gated layers from the settings' seed, the same on every machine.

    Matrices are normal with `init_std`; those that write to a residual are smaller, by the root of twice as many as
    there are layers one behind the other (GPT-2). Latents are normal with 1 (Flamingo's are learned vectors among
    normed ones). Norms begin at 1, biases and gates at 0.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    with torch.no_grad():
        if model.into is not None:
            model.into.weight.normal_(0, settings.init_std, generator=generator)
            if model.into.bias is not None:
                model.into.bias.zero_()
        model.resampler.latents.normal_(generator=generator)
        for part, depth in ((model.resampler, settings.resampler_depth), (model.cross, len(model.cross))):
            for name, layer in part.named_modules():
                if isinstance(layer, nn.Linear):
                    scaled = settings.depth_scaled_init and name.endswith((".o", ".fc2"))
                    layer.weight.normal_(
                        0, settings.init_std / ((2 * depth) ** 0.5 if scaled else 1), generator=generator
                    )
                    if layer.bias is not None:
                        layer.bias.zero_()
