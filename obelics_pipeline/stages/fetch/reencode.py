"""Re-encoding, where the config asks for it: img2dataset's resizer, given what it can handle."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.stages.fetch.image_check import ImageFacts, decoding
from obelics_pipeline.stages.fetch.resizer import make_resizer

if TYPE_CHECKING:
    from PIL.Image import Image

_NAMES = {"jpeg": "jpg", "png": "png", "webp": "webp"}  # as img2dataset calls them
_PNG_COMPRESSION = 6  # 0 to 9; zlib's default
ALPHA_SHARE = 0.25  # of max_pixels: flattening holds an image several times over


class Reencoder:
    """Turns an image that was checked into the format and size of the config. One at a time, as decoding is."""

    def __init__(self, config: FetchingConfig) -> None:
        assert config.reencode != "never"
        self._format, self._max_pixels = config.reencode, config.max_pixels
        self._resize = make_resizer(
            image_size=config.reencode_size or 0,
            resize_mode="keep_ratio_largest" if config.reencode_size else "no",
            resize_only_if_bigger=True,
            encode_quality=_PNG_COMPRESSION if config.reencode == "png" else config.reencode_quality,
            encode_format=_NAMES[config.reencode],
        )

    def __call__(self, content: bytes, facts: ImageFacts) -> tuple[bytes, ImageFacts]:
        """The new bytes and what they are. Raises FetchError: reencode_failed, too_many_pixels."""
        with decoding:  # img2dataset redirects the process's stdout and stderr meanwhile: never two at once
            encoded, width, height, *_, error = self._resize(io.BytesIO(self._plain(content, facts)))
        if error is not None or not encoded:
            raise FetchError("reencode_failed")
        return bytes(encoded), ImageFacts(self._format, int(width), int(height))

    def _plain(self, content: bytes, facts: ImageFacts) -> bytes:
        """The image in a mode that the resizer handles. It clips 16-bit samples to white, and needs 50 bytes a pixel
        for alpha.
        """
        from PIL import Image as pil

        with pil.open(io.BytesIO(content)) as image:
            deep = facts.format == "png" and len(content) > 24 and content[24] == 16
            if image.mode in ("RGB", "L", "CMYK") and not deep and "transparency" not in image.info:
                return content
            if facts.width * facts.height > self._max_pixels * ALPHA_SHARE:
                raise FetchError("too_many_pixels")
            flat = io.BytesIO()
            _flatten(image).save(flat, "BMP")
            return flat.getvalue()


def _flatten(image: Image) -> Image:
    """Eight bits a sample, on white."""
    from PIL import Image as pil

    if image.mode.startswith("I"):  # 16-bit grey: PIL's own conversion clips, as the resizer's does
        return image.point(lambda value: value / 257).convert("L")
    layered = image.convert("RGBA")
    white = pil.new("RGBA", layered.size, "white")
    white.alpha_composite(layered)
    return white.convert("RGB")
