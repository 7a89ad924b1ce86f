"""The picture that is measured: eight bits, on white, and not larger than a model would see it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST = 1024  # pixels of the longer side: a QR code, or a line of text, is still told from its surroundings
PLAIN = ("RGB", "L", "CMYK")  # modes that Pillow shrinks without a copy of the picture
STRIP_PIXELS = 2**20  # of the source, of pictures in other modes: what is copied at a time


def working(image: Image) -> Image:
    """A decoded image in RGB, its longer side at most `LONGEST` pixels; a smaller one keeps its size.

    Pixels become one by their mean. Transparent ones are white. Memory does not depend on the image's size, except
    where a single row is large.
    """
    from PIL import Image as pil

    width, height = size = _size(image)
    if image.mode in PLAIN and not image.has_transparency_data:
        return image.resize(size, pil.Resampling.BOX).convert("RGB")
    small = pil.new("RGB", size)
    rows = max(1, STRIP_PIXELS * height // (image.width * image.height))
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        first, last = top * image.height / height, bottom * image.height / height
        strip = image.crop((0, math.floor(first), image.width, math.ceil(last)))
        inside = (0, first - math.floor(first), image.width, last - math.floor(first))
        small.paste(_plain(strip).resize((width, bottom - top), pil.Resampling.BOX, inside), (0, top))
    return small


def shrunk(image: Image, longest: int) -> Image:
    """An image in RGB, its longer side at most `longest` pixels."""
    from PIL import Image as pil

    return image.resize(_size(image, longest), pil.Resampling.BOX)


def _size(image: Image, longest: int = LONGEST) -> tuple[int, int]:
    by = min(1.0, longest / max(image.size))
    return max(1, round(image.width * by)), max(1, round(image.height * by))


def _plain(image: Image) -> Image:
    """Eight bits, on white."""
    from PIL import Image as pil

    if image.mode.startswith("I"):  # 16-bit grey, which `convert` would clip
        return image.point(lambda value: value / 257).convert("L").convert("RGB")
    if image.mode == "F":
        return image.convert("L").convert("RGB")
    if not image.has_transparency_data:
        return image.convert("RGB")
    layered = image.convert("RGBA")
    white = pil.new("RGBA", layered.size, "white")
    white.alpha_composite(layered)
    return white.convert("RGB")
