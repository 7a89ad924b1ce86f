"""Whether an image file of a shard is the image that its metadata say, and decodes to its last byte."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from obelics_pipeline.models.pictures.decoding import decodable, decode_whole
from obelics_pipeline.policy.image_safety.tiff import ORDERS

if TYPE_CHECKING:
    from PIL.Image import Image

# Pixels up to which an image is decoded: some 300 MB, at the bytes that Pillow's decoders take per pixel (JPEG and PNG
# up to 6, AVIF 9, WebP 16). The header of larger ones is checked.
MAX_PIXELS = {"webp": 20_000_000, "avif": 30_000_000}
MAX_PIXELS_OTHERWISE = 50_000_000


def picture_problems(stream: IO[bytes], about: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with an image beside its metadata object; the header must agree before anything is decoded."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's, of large images and odd EXIF
            with Image.open(_readable(stream), formats=decodable()) as image:
                found = _facts(image)
                stated = tuple(about.get(key) for key in ("format", "original_width", "original_height"))
                if found != stated:
                    yield f"is {found[0]} of {found[1]} x {found[2]}, its metadata say {ascii(stated)[:100]}"
                elif image.width * image.height <= MAX_PIXELS.get(found[0], MAX_PIXELS_OTHERWISE):
                    decode_whole(image)
    except Exception as error:  # decoders meet damaged files with whatever they stumble over
        yield f"cannot be decoded: {type(error).__name__}: {ascii(str(error))[:100]}"


def _readable(stream: IO[bytes]) -> IO[bytes]:
    """The same, or a TIFF's bytes: libtiff asks for a file descriptor, which a member of a tar does not have."""
    start = stream.read(4)
    stream.seek(0)
    return io.BytesIO(stream.read()) if start in ORDERS else stream


def _facts(image: Image) -> tuple[str, int, int]:
    """Format, width and height. A photograph with previews behind it, which Pillow calls MPO, is a JPEG."""
    name = (image.format or "").lower()
    return "jpeg" if name == "mpo" else name, image.width, image.height
