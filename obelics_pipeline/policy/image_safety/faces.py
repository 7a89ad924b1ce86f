"""Faces: a function of the operator's says where they are, and they are blurred, or the image is dropped."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

Box = tuple[float, float, float, float]  # left, top, right, bottom in pixels
Find = Callable[[Any], bool | Sequence[Box] | None]

SHARE = 5  # the radius of the blur is a fifth of the longer side of a box
QUALITY = 95  # of a JPEG or WebP that is written anew


class Drop(Exception):
    """The function says that the image must not be kept."""


def without_faces(content: bytes, format_: str, find: Find, formats: tuple[str, ...]) -> bytes:
    """The image with what `find` names blurred; the same bytes where it names nothing.

    `find` is given the image in RGB, upright by its EXIF orientation. A changed image has no metadata except its
    colour profile. Raises Drop, and whatever `find` and the decoder raise.
    """
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(content), formats=formats) as opened:
        profile = opened.info.get("icc_profile")
        upright = ImageOps.exif_transpose(opened).convert("RGB")
    found = find(upright.copy())
    if found is True:
        raise Drop
    boxes = [] if not found else list(found)
    if not boxes:
        return content
    for box in boxes:
        _blur(upright, box)
    out = io.BytesIO()
    kind = {"jpeg": "JPEG", "webp": "WEBP"}.get(format_, "PNG")
    options = {"icc_profile": profile} if profile else {}
    upright.save(out, kind, **options, **({} if kind == "PNG" else {"quality": QUALITY}))
    return out.getvalue()


def _blur(image: Image, box: Box) -> None:
    from PIL import ImageFilter

    left, top, right, bottom = (round(value) for value in box)
    place = (max(0, left), max(0, top), min(image.width, right), min(image.height, bottom))
    if place[0] >= place[2] or place[1] >= place[3]:
        return
    part = image.crop(place)
    small = part.resize((max(1, part.width // 16), max(1, part.height // 16)))  # nothing fine is left to be sharpened
    rough = small.resize(part.size)
    image.paste(rough.filter(ImageFilter.GaussianBlur(max(part.size) / SHARE)), place)
