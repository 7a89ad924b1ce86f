"""The pictures of the demo: drawn by code, each from its URL alone."""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from obelics_pipeline.demo.scenes import SCENES, Scene

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

FORMATS = {"jpg": "JPEG", "jpeg": "JPEG", "png": "PNG", "webp": "WEBP", "gif": "GIF"}
MEDIA_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}
SIZES = ((720, 480), (640, 480), (480, 640), (600, 450), (540, 540), (560, 420), (450, 600), (768, 512))

WORDS: dict[str, str] = {
    "sea": "harbour ferry tide boat sea quay lighthouse beach island pier lock wave coast sail river pond",
    "still_life": "bread loaf dough flour soup cake plum jar kitchen bowl table apple cheese cup plate pickle pan oven",
    "chart": "chart graph plot curve figure table trend bars",
    "map": "map route plan sheet contour trail",
    "town": "market hall street town house library station square village roof shop bus city bridge",
    "night_sky": "moon star night sky planet comet eclipse meteor",
    "plant": "tree branch seed moss fern flower leaf garden compost bean hedge blossom root bulb",
    "apparatus": "clock gauge sensor board bench radio lens barometer dial pump machine wheel gear pendulum tool",
    "mosaic": "tile quilt pattern weave cloth glass window knot museum print colour",
    "landscape": "hill ridge valley field path meadow moor view morning autumn summit forest train cloud rain snow",
}
SCENE_OF = {word: scene for scene, words in WORDS.items() for word in words.split()}

SMALL = {
    "icon": (32, 32), "logo": (64, 64), "avatar": (48, 48), "button": (88, 31), "pixel": (1, 1), "beacon": (1, 1),
    "spacer": (1, 1), "banner": (728, 90), "leaderboard": (970, 90), "skyscraper": (160, 600), "thumb": (120, 90),
}  # fmt: skip
"""Sizes of what is on a page but is no picture of it, by a word of the file name."""


@dataclass(frozen=True)
class Plan:
    """What a URL asks for: which scene, how large, in which format, and the seed of its chance."""

    scene: str
    size: tuple[int, int]  # pixels, width and height
    format: str  # as Pillow names it
    frames: int
    seed: int


def plan(url: str) -> Plan | None:
    """What the picture at a URL is; None where the URL does not end like an image's.

    The same file name at another size (`-480w`, `-800x600`, `?w=480`) is the same scene, as on real sites.
    """
    split = urlsplit(url)
    name, dot, ending = split.path.rpartition("/")[2].lower().rpartition(".")
    if not dot or ending not in FORMATS:
        return None
    stem = re.sub(r"-(\d+x\d+|\d+w)$", "", name)
    words = re.split(r"[^a-z]+", stem)
    seed = int.from_bytes(hashlib.sha256(f"{split.hostname}/{stem}".encode()).digest()[:8], "big")
    scene = next((SCENE_OF[w.removesuffix("s")] for w in words if w.removesuffix("s") in SCENE_OF), None)
    size = next((SMALL[w] for w in words if w in SMALL), None) or _size(name, split.query, seed)
    return Plan(
        scene or sorted(SCENES)[seed % len(SCENES)], size, FORMATS[ending], 3 if "animated" in words else 1, seed
    )


def draw(url: str) -> tuple[bytes, str] | None:
    """The bytes and the media type of the picture at a URL; None where the URL is no image's."""
    wanted = plan(url)
    if wanted is None:
        return None
    scene: Scene = SCENES[wanted.scene]
    frames = [scene(wanted.size, random.Random(wanted.seed + n)) for n in range(wanted.frames)]
    return _encode(frames, wanted), MEDIA_TYPES[wanted.format]


def _size(name: str, query: str, seed: int) -> tuple[int, int]:
    """The size that the file name or the query names, else one of the usual sizes."""
    usual = SIZES[(seed >> 16) % len(SIZES)]
    if exact := re.search(r"-(\d+)x(\d+)$", name):
        return int(exact[1]), int(exact[2])
    wide = re.search(r"-(\d+)w$", name)
    asked = parse_qs(query).get("w", [wide[1] if wide else ""])[0]
    return (int(asked), max(1, int(asked) * usual[1] // usual[0])) if asked.isdigit() else usual


def _encode(frames: list[Picture], wanted: Plan) -> bytes:
    """The file: no metadata, fixed settings, so that the same Pillow gives the same bytes."""
    out = BytesIO()
    first, *others = frames
    if wanted.format == "JPEG":
        _grain(first, wanted.seed).save(out, "JPEG", quality=82)
    elif wanted.format == "WEBP":
        _grain(first, wanted.seed).save(out, "WEBP", quality=78, method=0)
    elif wanted.format == "PNG":
        first.save(out, "PNG", compress_level=3)
    elif others:
        first.save(out, "GIF", save_all=True, append_images=others, duration=300, loop=0)
    else:
        first.save(out, "GIF")
    return out.getvalue()


def _grain(image: Picture, seed: int) -> Picture:
    """The picture with some soft light and shade, so that no two areas are quite flat."""
    from PIL import Image, ImageChops

    if min(image.size) < 64:
        return image
    cells = (image.width // 9, image.height // 9)
    noise = Image.frombytes("L", cells, random.Random(seed ^ 0x5EED).randbytes(cells[0] * cells[1]))
    soft = noise.point(lambda v: 236 + v * 19 // 255).resize(image.size, Image.Resampling.BILINEAR)
    return ImageChops.multiply(image, Image.merge("RGB", (soft, soft, soft)))
