"""What is kept of a document's token losses: several numbers, because the mean alone tells little.

A page spun word by word has a heavy upper tail, a spliced one a bad stretch, a stuffed one a low tail; an average over
a thousand tokens hides each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from obelics_pipeline.models.flamingo.unigram import Unigram

TAILS = (10, 50, 90, 99)  # percentiles of the token losses that are kept; a larger model gives repetition a low loss
STRETCH = 64  # tokens, about two sentences, over which the worst stretch of a document is averaged

COLUMNS = (
    "flamingo_tokens",
    "images_seen",
    "flamingo_loss",
    "flamingo_bits_per_byte",
    *(f"flamingo_loss_p{percent}" for percent in TAILS),
    "flamingo_loss_worst_stretch",
    "flamingo_worse_than_unigram",
    "flamingo_loss_without_images",
    "flamingo_image_gain",
)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The scored tokens of a document: `targets` int64 (n), `losses` float32 (n) in nats.

    `without` are the losses of the same tokens with the images hidden, None where that was not measured or the
    document has no image; `n_bytes` of its text, `images_seen` of its images.
    """

    targets: npt.NDArray[np.int64]
    losses: npt.NDArray[np.float32]
    without: npt.NDArray[np.float32] | None
    n_bytes: int
    images_seen: int


def statistics(scored: Scored, unigram: Unigram | None) -> dict[str, float | None]:
    """The values of `COLUMNS`, in nats per token where not said otherwise; None where there is nothing to measure.

    * `flamingo_tokens`, `images_seen`: counts.
    * `flamingo_loss`: the mean; its exponential is the perplexity per token.
    * `flamingo_bits_per_byte`: the sum in bits by the bytes of the text: comparable across scripts and tokenizers.
    * `flamingo_loss_pN`: the N-th percentile.
    * `flamingo_loss_worst_stretch`: the largest mean of 64 tokens in a row; of all, where there are fewer.
    * `flamingo_worse_than_unigram`: share of tokens whose frequency alone says more.
    * `flamingo_loss_without_images`, `flamingo_image_gain`: the mean with the images hidden, and by how much the
      images lower it.

    Where a loss is not finite (bfloat16 overflows), all that is computed from the losses is NaN. So a reader can tell a
    model that failed from a text without a loss.
    """
    out: dict[str, float | None] = dict.fromkeys(COLUMNS)
    out["flamingo_tokens"], out["images_seen"] = float(len(scored.losses)), float(scored.images_seen)
    losses = scored.losses.astype(np.float64)
    if not len(losses):
        return out
    if not np.isfinite(losses).all():
        losses = np.full_like(losses, np.nan)
    out["flamingo_loss"] = float(losses.mean())
    if scored.n_bytes:
        out["flamingo_bits_per_byte"] = float(losses.sum()) / math.log(2) / scored.n_bytes
    for percent, value in zip(TAILS, np.percentile(losses, TAILS), strict=True):
        out[f"flamingo_loss_p{percent}"] = float(value)
    out["flamingo_loss_worst_stretch"] = worst_stretch(losses, STRETCH)
    if unigram is not None:
        out["flamingo_worse_than_unigram"] = _share(losses, unigram.loss[scored.targets])
    if scored.without is not None:
        without = float(scored.without.astype(np.float64).mean()) if np.isfinite(scored.without).all() else math.nan
        out["flamingo_loss_without_images"] = without
        out["flamingo_image_gain"] = without - float(losses.mean())
    return out


def worst_stretch(losses: npt.NDArray[np.float64], length: int) -> float:
    """The largest mean of `length` losses in a row (of all, where there are fewer); at least one loss."""
    length = min(length, len(losses))
    sums = np.cumsum(np.concatenate([[0.0], losses]))
    return float((sums[length:] - sums[:-length]).max() / length)


def _share(losses: npt.NDArray[np.float64], alone: npt.NDArray[np.float64]) -> float:
    """Share of losses that are above those of the words alone; NaN where a loss is."""
    return math.nan if np.isnan(losses).any() else float((losses > alone).mean())
