"""What is kept of the scores of a document's images."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

COLUMNS = ("unsafe_images_measured", "unsafe_image_max", "unsafe_image_mean")

DIGITS = 6  # after the point: the rest of a float32 probability is rounding


def columns(scores: Sequence[float | None]) -> dict[str, float | None]:
    """The values of `COLUMNS` for a document whose images have these scores, None where one was not measured.

    * `unsafe_images_measured`: how many images were measured.
    * `unsafe_image_max`, `unsafe_image_mean`: the greatest score and their mean, 0 to 1; None where none was measured.
    """
    measured = [score for score in scores if score is not None]
    out: dict[str, float | None] = dict.fromkeys(COLUMNS)
    out["unsafe_images_measured"] = float(len(measured))
    if measured:
        out["unsafe_image_max"] = max(measured)
        out["unsafe_image_mean"] = round(fsum(measured) / len(measured), DIGITS)
    return out
