"""Whether bytes are an image one can use: the header first, then a full decode within bounded memory.

The Content-Type header is not looked at: what the bytes are is what counts.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from obelics_pipeline.models.pictures.decoding import decodable, decode_whole
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.stages.fetch.phash import phash_of
from obelics_pipeline.stages.fetch.quality.measure import measures_of

if TYPE_CHECKING:
    from PIL.Image import Image

# Peak memory per pixel of a full decode, measured with Pillow 13 (32 to 50 megapixels): PNG 4 bytes, progressive JPEG
# 3 to 6, and 8 in CMYK, TIFF in one strip 8, AVIF 9, WebP 16. These share what `max_pixels` is worth in bytes.
PROGRESSIVE_CMYK = "progressive cmyk"
PIXEL_SHARE = {"webp": 0.4, "avif": 0.6, "tiff": 0.7, PROGRESSIVE_CMYK: 0.7}

# Held by who decodes, so one at a time: the memory of a worker is that of its largest image, not of all its threads'.
decoding = threading.Lock()

_MAGIC = (
    (b"\xff\xd8\xff", "jpeg"), (b"\x89PNG\r\n\x1a\n", "png"), (b"GIF87a", "gif"), (b"GIF89a", "gif"), (b"BM", "bmp"),
    (b"II*\x00", "tiff"), (b"MM\x00*", "tiff"),
)  # fmt: skip
_FOREIGN_MAGIC = (
    b"\x00\x00\x01\x00", b"\x00\x00\x02\x00", b"8BPS", b"\xff\x0a", b"\x00\x00\x00\x0cJXL ", b"\x00\x00\x00\x0cjP  ",
    b"%!PS", b"\xc5\xd0\xd3\xc6", b"%PDF",
)  # fmt: skip  # ico, cur, psd, jpeg xl, jpeg 2000, eps, pdf
_HTML_TAGS = (b"html", b"head", b"body", b"title", b"script", b"meta", b"div", b"p")


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """Format as Pillow names it, in lower case; width and height in pixels as stored (EXIF orientation not applied)."""

    format: str
    width: int
    height: int
    phash: str | None = field(default=None, compare=False)  # see `phash_of`: not exact, so no fact
    quality: Mapping[str, float] | None = field(default=None, compare=False)  # see `measures_of`; None: not asked for


class Caps(Protocol):
    """What an image may have at most; a config of fetching says it."""

    @property
    def max_pixels(self) -> int:
        """Pixels of a frame."""

    @property
    def max_frames(self) -> int:
        """Frames."""


def check_image(content: bytes, caps: Caps, measures: Sequence[str] = ()) -> ImageFacts:
    """Decode the bytes of an image; returns its format and size, and what `measures` ask of its pixels.

    Raises FetchError: empty_body, html, svg, unsupported_format, not_an_image, too_many_pixels, too_many_frames,
    truncated_image, corrupt_image.
    """
    return _decode(content, sniff(content), caps, measures)


def sniff(content: bytes) -> str:
    """The image format that the first bytes announce. Raises FetchError where it is none of `FORMATS`."""
    if not content:
        raise FetchError("empty_body")
    for magic, kind in _MAGIC:
        if content.startswith(magic):
            return kind
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    if content[4:8] == b"ftyp":
        if content[8:12] in (b"avif", b"avis") or b"avif" in content[16:64]:
            return "avif"
        raise FetchError("unsupported_format")  # heic, video
    if content.startswith(_FOREIGN_MAGIC):
        raise FetchError("unsupported_format")
    raise FetchError(_markup(content[:2048].removeprefix(b"\xef\xbb\xbf").lower()) or "not_an_image")


def _markup(start: bytes) -> str | None:
    """svg or html, by the first element behind declarations and comments."""
    start = start.lstrip()
    while start.startswith((b"<?", b"<!")):
        if start.startswith(b"<!doctype"):
            return "svg" if start.startswith(b"<!doctype svg") else "html"
        _, _, start = start.partition(b"-->" if start.startswith(b"<!--") else b">")
        start = start.lstrip()
    name, _, _ = start[1:40].replace(b">", b" ").replace(b"/", b" ").partition(b" ")
    if not start.startswith(b"<"):
        return None
    return "svg" if name.rpartition(b":")[2] == b"svg" else "html" if name in _HTML_TAGS else None


def _decode(content: bytes, kind: str, caps: Caps, measures: Sequence[str]) -> ImageFacts:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of odd EXIF and of sizes that are refused just below
            image = Image.open(io.BytesIO(content), formats=decodable())
            with image:
                facts = _within_caps(image, kind, caps)
                decode_whole(image)
                facts = replace(facts, phash=phash_of(image), quality=measures_of(image, measures) or None)
    except FetchError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise FetchError("too_many_pixels") from None
    except MemoryError:
        raise FetchError("too_many_pixels") from None
    except Exception as error:  # untrusted bytes in a decoder: whatever it raises, this image alone is lost
        cut = _says_truncated(error) or _is_cut_riff(content)
        raise FetchError("truncated_image" if cut else "corrupt_image") from None
    return facts


def _within_caps(image: Image, kind: str, caps: Caps) -> ImageFacts:
    """The facts of the header, if they are within the caps; nothing has been decoded so far."""
    name = (image.format or kind).lower()
    if name == "mpo":  # a JPEG photograph with previews or a gain map behind it: its first frame is the image
        name = "jpeg"
    width, height = image.size
    costs = PROGRESSIVE_CMYK if image.mode == "CMYK" and image.info.get("progressive") else name
    if width * height > caps.max_pixels * PIXEL_SHARE.get(costs, 1.0):
        raise FetchError("too_many_pixels")
    if name != "jpeg" and _frames(image, caps.max_frames) > caps.max_frames:
        raise FetchError("too_many_frames")
    return ImageFacts(name, width, height)


def _frames(image: Image, cap: int) -> int:
    """Frames of an animation. Where one is the cap, whether there is a second is enough (a GIF has no count)."""
    if cap == 1:
        return 2 if getattr(image, "is_animated", False) else 1
    return int(getattr(image, "n_frames", 1))


def _says_truncated(error: Exception) -> bool:
    return "truncated" in str(error).lower() or isinstance(error, EOFError)


def _is_cut_riff(content: bytes) -> bool:
    """Whether a WebP file is shorter than it says; Pillow does not say why it cannot open one."""
    return content[:4] == b"RIFF" and len(content) < int.from_bytes(content[4:8], "little") + 8
