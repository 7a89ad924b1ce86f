"""Drawn pictures: plain ones, rings, and files with metadata."""

from __future__ import annotations

import io
from random import Random
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, PngImagePlugin

GPS, ORIENTATION, _MODEL = 0x8825, 0x0112, 0x0110  # tags of EXIF
LATITUDE = "53,33.0123N"  # in XMP; what must not be left in a file
_XMP = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
    'xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"{} dc:format="image/jpeg"/>'
    '</rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
)


def scene(seed: int, size: tuple[int, int] = (360, 320)) -> Image.Image:
    """Soft shades with some things in them and a grain, as a photo has."""
    draw = np.random.default_rng(seed)
    cells = (int(draw.integers(4, 9)), int(draw.integers(4, 9)), 3)
    image = Image.fromarray(draw.integers(0, 256, cells, dtype=np.uint8)).resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    for _ in range(int(draw.integers(3, 8))):
        points = [(int(draw.integers(0, size[0])), int(draw.integers(0, size[1]))) for _ in range(3)]
        pen.polygon(points, fill=tuple(int(v) for v in draw.integers(0, 256, 3)))
    grain = np.asarray(image, np.int16) + draw.integers(-6, 7, (size[1], size[0], 1), dtype=np.int16)
    return Image.fromarray(grain.clip(0, 255).astype(np.uint8))


def file_of(image: Image.Image, form: str = "JPEG", **options: Any) -> bytes:
    """The bytes of a picture's file."""
    out = io.BytesIO()
    image.save(out, form, **{"quality": 85, **options})
    return out.getvalue()


def photo(seed: int) -> bytes:
    """A file of a plain picture."""
    return file_of(scene(seed))


def rings(seed: int, count: int) -> bytes:
    """So many rings of two colours around each other, on plain ground; what is unsafe has three or more."""
    random = Random(seed)
    ground, one = (tuple(random.randrange(256) for _ in range(3)) for _ in range(2))
    two = tuple((value + random.randrange(100, 156)) % 256 for value in one)
    image = Image.new("RGB", (300, 260), ground)
    radius = random.uniform(80, 115)
    x, y = random.uniform(radius, 300 - radius), random.uniform(radius, 260 - radius)
    for n in range(count):
        r = radius * (count - n) / count
        ImageDraw.Draw(image).ellipse((x - r, y - r, x + r, y + r), fill=(one, two)[n % 2])
    return file_of(image)


def with_metadata(seed: int, form: str, carrier: str, place: bool) -> bytes:
    """A file that says how it is turned, what took it and, in EXIF or XMP, perhaps where."""
    exif = Image.Exif()
    exif[ORIENTATION], exif[_MODEL] = 6, "Camera of the town"
    if place and carrier == "EXIF":
        exif[GPS] = {1: "N", 2: (53.0, 33.0, 0.123), 3: "E", 4: (9.0, 59.0, 36.0)}
    options: dict[str, Any] = {"exif": exif}
    if carrier == "XMP":
        where = f' exif:GPSLatitude="{LATITUDE}" exif:GPSLongitude="9,59.6E"' if place else ""
        options["xmp"] = _XMP.format(where).encode()
        if form == "PNG":
            options["pnginfo"] = PngImagePlugin.PngInfo()
            options["pnginfo"].add_itxt("XML:com.adobe.xmp", options.pop("xmp").decode())
    return file_of(scene(seed), form, **options)
