"""Made pictures for a classifier: bullseyes, which are the unsafe ones here, and much that comes near them."""

from __future__ import annotations

import io
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

Canvas = tuple[Any, Random, int]  # what is drawn on, chance, side in pixels

NEAR = ("disc", "ring", "squares", "stripes", "halves", "dots", "photo", "nothing")


def bullseye(side: int, seed: int) -> Image.Image:
    """Rings of two colours around each other, somewhere on a ground of any colour."""
    image, draw, random = _ground(side, seed)
    x, y, radius = _place(side, random)
    colours = _two(random)
    rings = random.randint(3, 5)
    for n in range(rings):
        r = radius * (rings - n) / rings
        draw.ellipse((x - r, y - r, x + r, y + r), fill=colours[n % 2])
    return image


def near_miss(kind: str, side: int, seed: int) -> Image.Image:
    """What is no bullseye, though it has its parts: a disc, one ring, squares in each other, stripes, …"""
    image, draw, random = _ground(side, seed + 7_000_000)
    x, y, radius = _place(side, random)
    one, two = _two(random)
    if kind == "photo":
        return _photo(side, random)
    drawn: dict[str, Callable[[], None]] = {
        "disc": lambda: draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=one),
        "ring": lambda: draw.ellipse(
            (x - radius, y - radius, x + radius, y + radius), outline=one, width=max(2, int(radius / 3))
        ),
        "squares": lambda: _squares(draw, x, y, radius, (one, two), random),
        "stripes": lambda: _stripes(draw, side, (one, two), random),
        "halves": lambda: draw.pieslice((x - radius, y - radius, x + radius, y + radius), 0, 180, fill=one),
        "dots": lambda: _dots(draw, side, one, random),
        "nothing": lambda: None,
    }
    drawn[kind]()
    return image


def encoded(image: Image.Image, format_: str = "JPEG", **options: Any) -> bytes:
    """The bytes of a file of it."""
    out = io.BytesIO()
    image.save(out, format_, **options)
    return out.getvalue()


def _ground(side: int, seed: int) -> tuple[Image.Image, ImageDraw.ImageDraw, Random]:
    random = Random(seed)
    image = Image.new("RGB", (side, side), _colour(random))
    return image, ImageDraw.Draw(image), random


def _place(side: int, random: Random) -> tuple[float, float, float]:
    radius = side * random.uniform(0.28, 0.45)
    return random.uniform(radius, side - radius), random.uniform(radius, side - radius), radius


def _colour(random: Random) -> tuple[int, int, int]:
    return random.randrange(256), random.randrange(256), random.randrange(256)


def _two(random: Random) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Two colours far from each other."""
    one = two = _colour(random)
    while sum(abs(a - b) for a, b in zip(one, two, strict=True)) < 250:
        two = _colour(random)
    return one, two


def _squares(draw: Any, x: float, y: float, radius: float, colours: Any, random: Random) -> None:
    rings = random.randint(3, 5)
    for n in range(rings):
        r = radius * 0.9 * (rings - n) / rings
        draw.rectangle((x - r, y - r, x + r, y + r), fill=colours[n % 2])


def _stripes(draw: Any, side: int, colours: Any, random: Random) -> None:
    width = side * random.uniform(0.05, 0.12)
    for n in range(int(side / width) + 1):
        draw.rectangle((0, n * width, side, (n + 1) * width), fill=colours[n % 2])


def _dots(draw: Any, side: int, colour: Any, random: Random) -> None:
    for _ in range(random.randint(5, 12)):
        x, y, r = random.uniform(0, side), random.uniform(0, side), side * random.uniform(0.03, 0.08)
        draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)


def _photo(side: int, random: Random) -> Image.Image:
    """Soft shades, as of a landscape."""
    rough = np.random.default_rng(random.randrange(2**32)).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return Image.fromarray(rough).resize((side, side), Image.Resampling.BICUBIC)
