"""What is kept of a document's tokens: how likely each was, and what else the model expected in its place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from obelics_pipeline.models.flamingo.statistics import STRETCH, TAILS, worst_stretch
from obelics_pipeline.models.language_model.columns import COLUMNS

Measured = npt.NDArray[np.float32]  # (n, 5): see `PARTS`
PARTS = ("loss", "log_rank", "entropy", "variance", "cross_entropy")  # of one token; the last is 0 without a second


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The scored tokens of a document, in order: `seen` as it is read, with its images.

    `without` are the same tokens with the images left out; `alone` those of the text as if it had never had images,
    which a second model has read too; each may be None: not measured. `n_bytes` of its text, `images_seen` of
    its images.
    """

    seen: Measured
    without: Measured | None
    alone: Measured | None
    n_bytes: int
    images_seen: int


def statistics(scored: Scored) -> dict[str, float | None]:
    """The values of `COLUMNS`, in nats per token where not said otherwise; None where there is nothing to measure.

    * `lm_tokens`, `lm_images_seen`: counts, of text tokens that have something before them, and of images.
    * `lm_loss`: the mean; its exponential is the perplexity per token.
    * `lm_bits_per_byte`: the sum in bits by the bytes of the text: comparable across scripts and tokenizers.
    * `lm_loss_pN`: the N-th percentile.
    * `lm_loss_worst_stretch`: the largest mean of 64 tokens in a row; of all, where there are fewer.
    * `lm_loss_without_images`, `lm_image_gain`: the mean with the images left out, and by how much they lower it.
    * `lm_log_rank`: the mean logarithm of the place of each token among all, the likeliest being 1.
    * `lm_entropy`: the mean entropy of what the model expected.
    * `lm_curvature`: Fast-DetectGPT (arXiv 2310.05130) in its analytic form, one model for both roles: the sum of
      log p less its expectation, by the root of the summed variances. Machine text is high.
    * `lm_binoculars`: Binoculars (arXiv 2401.12070), the loss by the cross-entropy of what the model expects under the
      second model, of the text alone. Machine text is low.

    Where a number of a token is not finite (bfloat16 overflows), all that is computed from it is NaN. So a reader can
    tell a model that failed from a text without a loss.
    """
    out: dict[str, float | None] = dict.fromkeys(COLUMNS)
    out["lm_tokens"], out["lm_images_seen"] = float(len(scored.seen)), float(scored.images_seen)
    if not len(scored.seen):
        return out
    seen = _finite(scored.seen)
    losses = seen[:, 0]
    loss, log_rank, entropy, variance, _ = map(float, seen.mean(0))
    out["lm_loss"], out["lm_log_rank"], out["lm_entropy"] = loss, log_rank, entropy
    if scored.n_bytes:
        out["lm_bits_per_byte"] = float(losses.sum()) / math.log(2) / scored.n_bytes
    for percent, value in zip(TAILS, np.percentile(losses, TAILS), strict=True):
        out[f"lm_loss_p{percent}"] = float(value)
    out["lm_loss_worst_stretch"] = worst_stretch(losses, STRETCH)
    # of n tokens: n (entropy - loss) / sqrt(n variance)
    out["lm_curvature"] = _ratio((entropy - loss) * math.sqrt(len(seen)), math.sqrt(variance))
    if scored.without is not None:
        without = float(_finite(scored.without)[:, 0].mean())
        out["lm_loss_without_images"], out["lm_image_gain"] = without, without - loss
    if scored.alone is not None and len(scored.alone):
        alone = _finite(scored.alone).mean(0)
        out["lm_binoculars"] = _ratio(float(alone[0]), float(alone[4]))
    return out


def _finite(measured: Measured) -> npt.NDArray[np.float64]:
    """In float64; all NaN where one number is not finite."""
    wide = measured.astype(np.float64)
    return wide if np.isfinite(wide).all() else np.full_like(wide, np.nan)


def _ratio(a: float, b: float) -> float | None:
    """None where a model that is sure of everything leaves nothing to divide by."""
    return None if b == 0 else a / b
