"""Bytes of an image, which came from the web, as the whole of it in its own shape."""

from __future__ import annotations

import io
import warnings
from math import sqrt

import numpy as np

from obelics_pipeline.models.pictures.decoding import decodable
from obelics_pipeline.models.pictures.pixels import MAX_PIXELS, Picture

LONGEST = 50  # times the shorter side: a strip that a model pads to a square would take gigabytes


def whole_picture(content: bytes, most: int) -> Picture | None:
    """An image in RGB (height, width, 3), made smaller where it has more than `most` pixels.

    None where the bytes are no image, are damaged, hold more than `MAX_PIXELS`, or are a strip of more than `LONGEST`
    to one. A large JPEG is decoded at the smallest eighth that leaves it twice as large as wanted.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd EXIF, and of sizes that are refused just below
            with Image.open(io.BytesIO(content), formats=decodable()) as image:
                width, height = image.size
                if width * height > MAX_PIXELS or max(width, height) > LONGEST * min(width, height):
                    return None
                shrink = min(1.0, sqrt(most / (width * height)))
                size = (max(1, int(width * shrink)), max(1, int(height * shrink)))
                image.draft("RGB", (2 * size[0], 2 * size[1]))
                rgb = image.convert("RGB")
                return np.asarray(rgb if shrink == 1 else rgb.resize(size, Image.Resampling.BICUBIC), dtype=np.uint8)
    except Exception:  # untrusted bytes in a decoder: whatever it raises, this image alone is lost
        return None
