"""The columns that a language model gives a document; `statistics` says what they are."""

from __future__ import annotations

from obelics_pipeline.models.flamingo.statistics import TAILS

COLUMNS = (
    "lm_tokens",
    "lm_images_seen",
    "lm_loss",
    "lm_bits_per_byte",
    *(f"lm_loss_p{percent}" for percent in TAILS),
    "lm_loss_worst_stretch",
    "lm_loss_without_images",
    "lm_image_gain",
    "lm_log_rank",
    "lm_entropy",
    "lm_curvature",
    "lm_binoculars",
)
