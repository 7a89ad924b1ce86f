"""The measures of a picture, by name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from obelics_pipeline.stages.fetch.quality import one_colour, sharpness
from obelics_pipeline.stages.fetch.quality.qr_codes import area, qr_codes
from obelics_pipeline.stages.fetch.quality.text_share import text_share
from obelics_pipeline.stages.fetch.quality.working import shrunk, working

if TYPE_CHECKING:
    from PIL.Image import Image

OF_QR_CODES = ("qr_codes", "qr_share")


def measures_of(image: Image, names: Collection[str]) -> dict[str, float]:
    """The measures that are asked for, of `IMAGE_MEASURES`, of a decoded image; one that does not apply is left out."""
    if not names:
        return {}
    found = _measured(working(image), names)
    return {name: value for name, value in found if name in names and value is not None}


def _measured(picture: Image, names: Collection[str]) -> Iterator[tuple[str, float | None]]:
    """`picture` is a working one."""
    grey = np.asarray(picture.convert("L"))
    if "one_colour" in names:
        yield "one_colour", one_colour.one_colour(np.asarray(shrunk(picture, one_colour.SIDE)))
    if not set(OF_QR_CODES).isdisjoint(names):
        codes = qr_codes(grey)
        yield "qr_codes", float(len(codes))
        yield "qr_share", min(1.0, sum(area(corners) for corners in codes) / grey.size)
    if "sharpness" in names:
        yield "sharpness", sharpness.sharpness(np.asarray(shrunk(picture, sharpness.SIDE).convert("L")))
    if "text_share" in names:
        yield "text_share", text_share(grey)
