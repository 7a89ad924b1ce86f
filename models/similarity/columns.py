"""What is kept of the similarities of a document's images."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isnan, nan

COLUMNS = (
    "similarity_images",
    "image_text_similarity",
    "image_text_similarity_min",
    "image_text_similarity_max",
)

DIGITS = 6  # after the point: the rest of a float32 cosine is rounding


def columns(similarities: Sequence[float | None]) -> dict[str, float | None]:
    """The values of `COLUMNS` for a document whose images have these similarities, None where one was not measured.

    * `similarity_images`: how many were measured.
    * `image_text_similarity`, `…_min`, `…_max`: their mean, least and greatest; None where none was, NaN where one is.
    """
    measured = [value for value in similarities if value is not None]
    out: dict[str, float | None] = dict.fromkeys(COLUMNS)
    out["similarity_images"] = float(len(measured))
    if any(map(isnan, measured)):
        measured = [nan]
    if measured:
        out["image_text_similarity"] = round(fsum(measured) / len(measured), DIGITS)
        out["image_text_similarity_min"], out["image_text_similarity_max"] = min(measured), max(measured)
    return out
