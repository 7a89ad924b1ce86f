"""What is decoded of images that came from the web, and how the whole of one is read."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

# What the fetch accepts. Pillow knows more formats, some of which run other programs (EPS: Ghostscript).
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF", "BMP", "TIFF")


@cache
def decodable() -> tuple[str, ...]:
    """Those of `FORMATS` that this Pillow was built with."""
    from PIL import Image

    Image.init()
    return tuple(name for name in FORMATS if name in Image.OPEN)


def decode_whole(image: Image) -> None:
    """Read every byte that the format's decoder wants: a cut or broken file raises.

    A JPEG is decoded at an eighth of its size: all of its data is read, with little memory and a third of the time.
    """
    if image.format in ("JPEG", "MPO"):
        image.draft(image.mode, (max(1, image.width // 8), max(1, image.height // 8)))
    image.load()
