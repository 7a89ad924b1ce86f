"""How much arithmetic a step is, counted from the sizes of a model: what a device makes of its peak (MFU)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import nn

from obelics_pipeline.models.packed_flamingo.batch import PackedBatch
from obelics_pipeline.models.packed_flamingo.language_model import decoder_layers
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo

# Dense bfloat16 operations per second, by what the driver calls the GPU. NVIDIA's data sheets give twice as many, "with
# sparsity": H100 SXM (resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet) and H200 (nvidia.com/
# en-us/data-center/h200) 1,979e12; A100 (nvidia.com/en-us/data-center/a100) has 312e12 without.
PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12}


def peak_of(device: torch.device) -> float | None:
    """Operations per second of a GPU's data sheet; None where it is not known."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else ""
    return next((peak for known, peak in PEAKS.items() if known in name), None)


class Operations:
    """Of matrix products, forward and backward, as PaLM counts them (arXiv 2204.02311, appendix B).

    A weight costs each vector 2 forward, 2 for the gradient of the vector, and 2 for its own where it trains. Of
    attention only the pairs that see each other count; nothing that is computed twice counts twice.
    """

    def __init__(self, model: PackedFlamingo) -> None:
        s, width = model.settings, model.language_model.config.get_text_config().hidden_size
        inner = s.heads * s.head_dim
        blocks = decoder_layers(model.language_model)[1]
        tower = model.vision.tower
        layers = max((len(m) for m in tower.modules() if isinstance(m, nn.ModuleList)), default=0)
        trains = any(p.requires_grad for p in tower.parameters())
        patches, latents, depth = model.vision.patches, s.latents, len(model.resampler.layers)
        seeing = [layer.attention for layer in model.resampler.layers]
        keys = 2 * inner * model.vision.width  # weights that make keys and values
        own = sum(_weights(layer.parameters())[0] for layer in model.resampler.layers) - keys * len(seeing)
        self._of_place = _passed(*_weights(blocks.parameters())) + 6.0 * (
            sum(_weights(layer.parameters())[0] - keys for layer in model.cross.values())
        )
        self._of_pair = 12.0 * width * len(blocks)
        self._of_sight = 12.0 * inner * latents * len(model.cross)  # of a token with an image
        in_tower = _weights(tower.parameters())
        self._of_picture = (
            patches * (_passed(*in_tower) if trains else 2.0 * in_tower[0])
            + (12.0 if trains else 4.0) * patches**2 * model.vision.width * layers
            + 6.0 * (latents * own + (patches + latents) * keys * depth)
            + 12.0 * latents * (patches + latents) * inner * depth
            + 6.0 * latents * (keys * len(model.cross) + (model.into.weight.numel() if model.into is not None else 0))
        )
        rows = model.language_model.get_output_embeddings().weight
        self._of_target = _passed(rows.numel(), rows.numel() if rows.requires_grad else 0)

    def of(self, batches: Sequence[PackedBatch]) -> float:
        """Of a step over these batches, on whatever device they are."""
        return sum(self._of(batch) for batch in batches)

    def _of(self, batch: PackedBatch) -> float:
        pairs = int(((batch.position + 1) * (batch.segment >= 0)).sum())
        return float(
            self._of_place * batch.ids.numel()
            + self._of_pair * pairs
            + self._of_sight * int((batch.image_of >= 0).sum())
            + self._of_picture * len(batch.pictures)
            + self._of_target * int(batch.target.sum())
        )


def _weights(parameters: Iterable[nn.Parameter]) -> tuple[int, int]:
    """The number of weights in matrices, and how many of them are trained."""
    matrices = [p for p in parameters if p.ndim > 1]
    return sum(p.numel() for p in matrices), sum(p.numel() for p in matrices if p.requires_grad)


def _passed(weights: int, trained: int) -> float:
    """Operations of one vector that its gradient passes."""
    return 4.0 * weights + 2.0 * trained
