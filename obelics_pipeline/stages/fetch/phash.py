"""The perceptual hash of an image: 64 bits, equal for copies of a picture in other sizes, formats and qualities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 128  # pixels: four times what the hash looks at, so that shrinking in two steps changes nothing
EXACT = ("1", "P", "I", "I;16", "I;16B", "F")  # modes whose pixels Pillow cannot average


def phash_of(image: Image) -> str:
    """The 64 bits of a DCT hash (pHash as in the library ImageHash) of a decoded image, as 16 hexadecimal digits.

    Transparent pixels are white. Memory does not depend on the image's size.
    """
    import imagehash
    from PIL import Image as pil

    size = (min(SIDE, image.width), min(SIDE, image.height))
    small = image.resize(size, pil.Resampling.NEAREST) if image.mode in EXACT else _shrunk(image, size)
    if small.mode.startswith("I"):  # 16-bit grey, which `convert` would clip
        small = small.point(lambda value: value / 257)
    if image.has_transparency_data:
        small.info.update(image.info)
        layered = small.convert("RGBA")
        small = pil.new("RGBA", layered.size, "white")
        small.alpha_composite(layered)
    return str(imagehash.phash(small.convert("L")))


def _shrunk(image: Image, size: tuple[int, int]) -> Image:
    """The mean of the pixels that become one. With alpha row by row: Pillow copies what it shrinks to weigh by it."""
    from PIL import Image as pil

    if image.mode not in ("RGBA", "LA") or image.height <= SIDE:
        return image.resize(size, pil.Resampling.BOX)
    small = pil.new(image.mode, size)
    for row in range(size[1]):
        top, bottom = row * image.height / size[1], (row + 1) * image.height / size[1]
        strip = image.crop((0, math.floor(top), image.width, math.ceil(bottom)))
        inside = (0, top - math.floor(top), image.width, bottom - math.floor(top))
        small.paste(strip.resize((size[0], 1), pil.Resampling.BOX, inside), (0, row))
    return small
