"""Bytes of an image, which came from the web, as the square picture that a vision tower wants."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from obelics_pipeline.models.pictures.decoding import decodable

if TYPE_CHECKING:
    from PIL.Image import Image

Picture = npt.NDArray[np.uint8]  # (side, side, 3), RGB
Fit = Literal["shortest", "squash"]  # open_clip's words: the middle square, or the whole image pressed into a square
Interpolation = Literal["bicubic", "bilinear"]

MAX_PIXELS = 89_478_485  # of the whole image: where Pillow itself begins to warn, a quarter gigabyte of RGB


def picture(
    content: bytes, side: int, fit: Fit = "shortest", interpolation: Interpolation = "bicubic"
) -> Picture | None:
    """An image as a square of `side` pixels, as open_clip does it: its middle, the shorter side scaled, or all of it.

    None where the bytes are no image, are damaged, or hold more than `MAX_PIXELS`: one bad image costs itself only.
    A large JPEG is decoded at the smallest eighth that leaves it twice as large as wanted.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd EXIF, and of sizes that are refused just below
            with Image.open(io.BytesIO(content), formats=decodable()) as image:
                if image.width * image.height > MAX_PIXELS:
                    return None
                image.draft("RGB", (2 * side, 2 * side))
                return _square(image, side, fit, interpolation)
    except Exception:  # untrusted bytes in a decoder: whatever it raises, this image alone is lost
        return None


def _square(image: Image, side: int, fit: Fit, interpolation: Interpolation) -> Picture:
    """Only the middle is ever scaled: a picture of one pixel by a million must not become 224 by 224 million."""
    from PIL.Image import Resampling

    width, height = image.size
    shorter = min(width, height)
    across, down = (
        ((0, width), (0, height))
        if fit == "squash"
        else (_middle(width, shorter, side), _middle(height, shorter, side))
    )
    kernel = {"bicubic": Resampling.BICUBIC, "bilinear": Resampling.BILINEAR}[interpolation]
    rgb: Any = image.convert("RGB").resize((side, side), kernel, box=(across[0], down[0], across[1], down[1]))
    return np.asarray(rgb, dtype=np.uint8)


def _middle(length: int, shorter: int, side: int) -> tuple[float, float]:
    """From where to where, in source pixels, torchvision's CenterCrop takes of what its Resize made of a side."""
    scaled = int(side * length / shorter)
    first = round((scaled - side) / 2.0)
    return first * length / scaled, (first + side) * length / scaled
