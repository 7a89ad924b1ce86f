"""What is kept, for a document, of what a model measured of its images."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isnan, nan

DIGITS = 6  # after the point: the rest of a float32 is rounding


def names_of(measure: str) -> tuple[str, ...]:
    """The columns of a measure, such as picture_watermark."""
    return tuple(f"{measure}_{what}" for what in ("images", "mean", "min", "max"))


def columns(measure: str, values: Sequence[float | None]) -> dict[str, float | None]:
    """The values of `names_of` for a document whose images have these values, None where one was not measured.

    * `…_images`: how many were measured.
    * `…_mean`, `…_min`, `…_max`: of them; None where none was measured, NaN where one is.
    """
    measured = [value for value in values if value is not None]
    if any(map(isnan, measured)):
        numbers: list[float | None] = [nan] * 3
    elif measured:
        numbers = [round(fsum(measured) / len(measured), DIGITS), min(measured), max(measured)]
    else:
        numbers = [None] * 3
    return dict(zip(names_of(measure), [float(len(measured)), *numbers], strict=True))
