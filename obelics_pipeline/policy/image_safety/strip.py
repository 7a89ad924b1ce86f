"""Metadata out of image files, without touching what decodes to pixels."""

from __future__ import annotations

from collections.abc import Callable

from obelics_pipeline.core.config.image_safety import MetadataPolicy
from obelics_pipeline.policy.image_safety import boxes, gif, jpeg, png, tiff, webp
from obelics_pipeline.policy.image_safety.policy import Left

STRIP: dict[str, Callable[[bytes, Left], bytes]] = {
    "jpeg": jpeg.strip,
    "png": png.strip,
    "webp": webp.strip,
    "gif": gif.strip,
    "avif": boxes.strip,
    "tiff": tiff.strip,
}
PLAIN = ("bmp",)  # has no metadata


class Unreadable(ValueError):
    """What is pixels and what is not cannot be told."""


def strip_metadata(content: bytes, format_: str, policy: MetadataPolicy) -> bytes:
    """An image file with the metadata that a policy leaves; `format_` as Pillow names it, lower case.

    Metadata that cannot be read is removed. Raises Unreadable where the file's parts cannot be told, as in a TIFF that
    has more than the pixels of one picture.
    """
    if policy == "keep" or format_ in PLAIN:
        return content
    try:
        return STRIP[format_](content, Left(policy))
    except Exception as error:  # untrusted bytes: whatever is raised, this image alone is lost
        raise Unreadable(str(error)) from None
