"""How many parameters each part of a Flamingo has, and how many of them train."""

from __future__ import annotations

from dataclasses import dataclass

from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo


@dataclass(frozen=True, slots=True)
class PartBudget:
    """Parameters of one part; a parameter that stands in two places counts once."""

    part: str
    parameters: int
    trainable: int


def budget(model: PackedFlamingo) -> list[PartBudget]:
    """The vision tower, the language model, the resampler, the gated layers, the rows of added tokens; then all."""
    parts = {
        "vision": ("vision.",),
        "language model": ("language_model.",),
        "resampler": ("resampler.",),
        "gated layers": ("cross.", "into."),
        "added tokens": ("embedding.", "head."),
    }
    rows = []
    for part, begins in parts.items():
        of_part = [p for name, p in model.named_parameters() if name.startswith(begins)]
        rows.append(
            PartBudget(part, sum(p.numel() for p in of_part), sum(p.numel() for p in of_part if p.requires_grad))
        )
    return [*rows, PartBudget("all", sum(r.parameters for r in rows), sum(r.trainable for r in rows))]
