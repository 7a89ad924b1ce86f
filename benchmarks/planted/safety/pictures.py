"""Cases that are pictures: unsafe ones, known ones and their copies, and such as say where they were taken."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from functools import partial

import numpy as np
from PIL import Image

from benchmarks.planted.safety.drawing import file_of, photo, rings, scene, with_metadata
from benchmarks.planted.safety.site import Site

COPIES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "the file itself": lambda image: image,
    "recompressed": lambda image: Image.open(io.BytesIO(file_of(image, quality=40))),
    "half as large": lambda image: image.resize((image.width // 2, image.height // 2), Image.Resampling.LANCZOS),
    "brighter": lambda image: image.point([min(255, v + 18) for v in range(256)] * 3),
    "grey": lambda image: image.convert("L").convert("RGB"),
}


def add_unsafe(site: Site, number: int) -> None:
    """Pictures that the classifier was made for; single discs and plain pictures."""
    for n in range(number):
        seed = site.random.randrange(2**32)
        site.show("unsafe image", True, "unsafe_image", site.picture(partial(rings, seed, 3 + n % 3)))
        near = partial(rings, seed + 1, 1) if n % 2 else partial(photo, seed)
        site.show("unsafe image", False, "unsafe_image", site.picture(near))


def add_abuse(site: Site, number: int) -> None:
    """Listed pictures: copies by PDQ, else as they are; near them mirrored ones, no copies to PDQ, and others."""
    import pdqhash

    for n in range(number):
        seed = site.random.randrange(2**32)
        copy, change = list(COPIES.items())[n % len(COPIES)]
        original = scene(seed, (720, 640))  # half of it is large enough for PDQ
        data = file_of(original)
        if n % 4 < 2:
            vector, _ = pdqhash.compute(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")))
            site.lists.setdefault("pdq", []).append(np.packbits(vector).tobytes().hex())
            kind, shown = f"PDQ, {copy}", file_of(change(original))
            near, other = "mirrored", file_of(original.transpose(Image.Transpose.FLIP_LEFT_RIGHT))
        else:
            kind, shown = ("sha256", "md5")[n % 2], data
            site.lists.setdefault(kind, []).append(hashlib.new(kind, data).hexdigest())
            near, other = "another picture", photo(seed + 1)
        site.show(f"known abuse: {kind}", True, "known_abuse", site.picture(partial(bytes, shown)))
        site.show(f"known abuse: {near}", False, "known_abuse", site.picture(partial(bytes, other)))


def add_places(site: Site, number: int) -> None:
    """Pictures with coordinates; such without, which must stay byte for byte."""
    ways = [(form, carrier) for form in ("JPEG", "PNG", "WEBP") for carrier in ("EXIF", "XMP")]
    for n in range(number):
        form, carrier = ways[n % len(ways)]
        for place in (True, False):
            draw = partial(with_metadata, site.random.randrange(2**32), form, carrier, place)
            ending = form.lower().replace("jpeg", "jpg")
            url = f"http://places.static-0.net/{n}-{'north' if place else 'calm'}.{ending}"
            site.page(f"place: {carrier} of {form}", place, "place", "", images=(site.picture(draw, url),))
