"""PDQ, Meta's perceptual hash of 256 bits, of the bytes of an image (github.com/facebook/ThreatExchange, pdq/)."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from obelics_pipeline.core.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 512  # pixels: an image with a longer side is pressed into this square first, as PDQ's reference does (pdqio.cpp)
DEEP = ("I", "I;16", "I;16B", "F")  # modes of more than eight bits, which `convert` would clip


@dataclass(frozen=True, slots=True)
class Pdq:
    """A hash and its quality, 0 to 100: low where there is little to see."""

    value: bytes
    quality: int


def require_pdq() -> None:
    """Raises UserError where the package is missing."""
    try:
        import pdqhash  # noqa: F401
    except ImportError:
        raise UserError(
            "image_safety.known_abuse: a list has PDQ hashes, and pdqhash is not installed; pip install "
            "'obelics-pipeline[safety]' (it is built from source, with a C++ compiler)"
        ) from None


def pdq_of(content: bytes, formats: tuple[str, ...], turned: bool = False) -> list[Pdq]:
    """The hash of an image that was checked before; with `turned` also those of its rotations and mirror images.

    Orientations of EXIF are not applied: PDQ is of pixels as stored. Raises what the decoder raises.
    """
    import pdqhash
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(io.BytesIO(content), formats=formats) as image:
            pixels = np.asarray(_small(image))
    if turned:
        vectors, quality = pdqhash.compute_dihedral(pixels)
        return [Pdq(np.packbits(vector.astype(bool)).tobytes(), int(quality)) for vector in vectors]
    vector, quality = pdqhash.compute(pixels)
    return [Pdq(np.packbits(vector.astype(bool)).tobytes(), int(quality))]


def _small(image: Image) -> Image:
    """What is hashed, in RGB. A large JPEG is decoded at the smallest eighth that is not below it."""
    too_large = max(image.size) > SIDE
    image.draft("RGB", (SIDE, SIDE))
    if image.mode in DEEP:
        image = image.point(lambda value: value / 257).convert("L")
    rgb = image.convert("RGB")
    if not too_large:
        return rgb
    from PIL.Image import Resampling

    return rgb.resize((SIDE, SIDE), Resampling.BOX)
