"""Pictures: plain ones, unsafe ones (rings, for a made classifier), listed ones and their copies, ones with a place."""

from __future__ import annotations

import hashlib
import io
from functools import partial
from random import Random
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, PngImagePlugin

from benchmarks.planted.safety.site import Site

_GPS, _ORIENTATION, _MODEL = 0x8825, 0x0112, 0x0110
_XMP = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf='
    '"http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" exif:GPSLatitude="{}" exif:GPSLongitude="9,59.6E" dc:format="image/jpeg"/>'
    '</rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
)
LATITUDE = "53,33.0123N"  # what must not be left in a file


def scene(seed: int, size: tuple[int, int] = (360, 320)) -> Image.Image:
    """Soft shades with some things in them and a grain, as a photo has."""
    draw = np.random.default_rng(seed)
    cells = (int(draw.integers(4, 9)), int(draw.integers(4, 9)), 3)
    rough = draw.integers(0, 256, cells, dtype=np.uint8)
    image = Image.fromarray(rough).resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    for _ in range(int(draw.integers(3, 8))):
        points = [(int(draw.integers(0, size[0])), int(draw.integers(0, size[1]))) for _ in range(3)]
        pen.polygon(points, fill=tuple(int(v) for v in draw.integers(0, 256, 3)))
    grain = np.asarray(image, np.int16) + draw.integers(-6, 7, (size[1], size[0], 1), dtype=np.int16)
    return Image.fromarray(grain.clip(0, 255).astype(np.uint8))


def file_of(image: Image.Image, form: str = "JPEG", **options: Any) -> bytes:
    """The bytes of a picture's file."""
    out = io.BytesIO()
    image.save(out, form, **({"quality": 85} | options if form == "JPEG" else options))
    return out.getvalue()


def photo(seed: int) -> bytes:
    """A file of a plain picture."""
    return file_of(scene(seed))


def rings(seed: int, count: int) -> bytes:
    """A picture of so many rings of two colours around each other, on plain ground; what is unsafe has three or more."""
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


def add_unsafe(site: Site, number: int) -> None:
    """Pictures that the classifier was made for, and others; a page has a plain one beside it."""
    for n in range(number):
        seed = site.random.randrange(2**32)
        unsafe = site.picture(partial(rings, seed, 3 + n % 3))
        site.page("unsafe image", True, "image", "unsafe_image", images=(unsafe, _plain(site)), about=unsafe)
        near = site.picture(partial(rings, seed + 1, 1) if n % 2 else partial(photo, seed))
        site.page("unsafe image", False, "image", "unsafe_image", images=(near, _plain(site)), about=near)


def _plain(site: Site) -> str:
    return site.picture(partial(photo, site.random.randrange(2**32)))


COPIES = {
    "the file itself": lambda image: image,
    "recompressed": lambda image: Image.open(io.BytesIO(file_of(image, quality=40))),
    "half as large": lambda image: image.resize((image.width // 2, image.height // 2), Image.Resampling.LANCZOS),
    "brighter": lambda image: image.point([min(255, v + 18) for v in range(256)] * 3),
    "grey": lambda image: image.convert("L").convert("RGB"),
}


def add_abuse(site: Site, number: int) -> None:
    """Listed pictures: by PDQ with copies, by sha256 or md5 as they are; near them other pictures, and mirrored ones."""
    import pdqhash

    for n in range(number):
        seed = site.random.randrange(2**32)
        way, (copy, change) = n % 4, list(COPIES.items())[n % len(COPIES)]
        data = file_of(scene(seed))
        if way < 2:
            vector, quality = pdqhash.compute(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")))
            site.lists.setdefault("pdq", ["hash,quality"]).append(f"{np.packbits(vector).tobytes().hex()},{quality}")
            shown = file_of(change(scene(seed)))
            kind = f"known abuse: PDQ, {copy}"
        else:
            name = "sha256" if way == 2 else "md5"
            site.lists.setdefault(name, []).append(hashlib.new(name, data).hexdigest())
            shown, kind = data, f"known abuse: {name}"
        source = site.picture(partial(bytes, shown))
        site.page(kind, True, "image", "known_abuse", images=(source, _plain(site)), about=source)
        mirrored = file_of(scene(seed).transpose(Image.Transpose.FLIP_LEFT_RIGHT))
        other = site.picture(partial(bytes, mirrored) if way < 2 else partial(photo, seed + 1))
        near = f"known abuse: {'mirrored' if way < 2 else 'another picture'}"
        site.page(near, False, "image", "known_abuse", images=(other, _plain(site)), about=other)


def with_place(seed: int, form: str, carrier: str, place: bool) -> bytes:
    """A file that says how it is turned, what took it and, perhaps, where."""
    image = scene(seed)
    exif = Image.Exif()
    exif[_ORIENTATION], exif[_MODEL] = 6, "Camera of the town"
    if place and carrier == "EXIF":
        exif[_GPS] = {1: "N", 2: (53.0, 33.0, 0.123), 3: "E", 4: (9.0, 59.0, 36.0)}
    options: dict[str, Any] = {"exif": exif}
    if carrier == "XMP":
        xmp = _XMP.format(LATITUDE if place else "").replace(' exif:GPSLatitude="" exif:GPSLongitude="9,59.6E"', "")
        if form == "PNG":
            info = PngImagePlugin.PngInfo()
            info.add_itxt("XML:com.adobe.xmp", xmp)
            options["pnginfo"] = info
        else:
            options["xmp"] = xmp.encode()
    return file_of(image, form, **options)


def add_places(site: Site, number: int) -> None:
    """Pictures with coordinates, and such without, which must stay byte for byte."""
    ways = [(form, carrier) for form in ("JPEG", "PNG", "WEBP") for carrier in ("EXIF", "XMP")]
    for n in range(number):
        form, carrier = ways[n % len(ways)]
        for place in (True, False):
            draw = partial(with_place, site.random.randrange(2**32), form, carrier, place)
            url = f"http://places.static-0.net/{n}-{'north' if place else 'calm'}.{form.lower().replace('peg', 'pg')}"
            site.page(f"place: {carrier} of {form}", place, "place", "", images=(site.picture(draw, url),))
