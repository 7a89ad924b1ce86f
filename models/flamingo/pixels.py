"""Bytes of an image, which came from the web, as the square picture that a vision tower wants."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL.Image import Image

Picture = npt.NDArray[np.uint8]  # (side, side, 3), RGB

# What the fetch accepts. Pillow knows more formats, some of which run other programs (EPS: Ghostscript).
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF", "BMP", "TIFF")
MAX_PIXELS = 89_478_485  # of the whole image: where Pillow itself begins to warn, a quarter gigabyte of RGB


def picture(content: bytes, side: int) -> Picture | None:
    """The middle square of an image, its shorter side scaled to `side` pixels, bicubic, as open_clip does it.

    None where the bytes are no image, are damaged, or hold more than `MAX_PIXELS`: one bad image costs itself only.
    A large JPEG is decoded at the smallest eighth that leaves it twice as large as wanted.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd EXIF, and of sizes that are refused just below
            with Image.open(io.BytesIO(content), formats=_decodable()) as image:
                if image.width * image.height > MAX_PIXELS:
                    return None
                image.draft("RGB", (2 * side, 2 * side))
                return _square(image, side)
    except Exception:  # untrusted bytes in a decoder: whatever it raises, this image alone is lost
        return None


def _square(image: Image, side: int) -> Picture:
    """Only the middle is ever scaled: a picture of one pixel by a million must not become 224 by 224 million."""
    from PIL.Image import Resampling

    width, height = image.size
    box = (*_middle(width, min(width, height), side), *_middle(height, min(width, height), side))
    rgb: Any = image.convert("RGB").resize((side, side), Resampling.BICUBIC, box=(box[0], box[2], box[1], box[3]))
    return np.asarray(rgb, dtype=np.uint8)


def _middle(length: int, shorter: int, side: int) -> tuple[float, float]:
    """From where to where, in source pixels, torchvision's CenterCrop takes of what its Resize made of a side."""
    scaled = int(side * length / shorter)
    first = round((scaled - side) / 2.0)
    return first * length / scaled, (first + side) * length / scaled


def _decodable() -> tuple[str, ...]:
    """Those of `FORMATS` that this Pillow was built with."""
    from PIL import Image

    Image.init()
    return tuple(name for name in FORMATS if name in Image.OPEN)
