"""Drawn scenes: each function fills one image from a seeded source of chance, and from nothing else."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

Colour = tuple[int, int, int]
Scene = Callable[[tuple[int, int], random.Random], "Picture"]


def _tone(chance: random.Random, hue: float, saturation: float, value: float, spread: float = 0.04) -> Colour:
    """A colour near a hue (0 to 1), with a little chance in it."""
    import colorsys

    h = (hue + (chance.random() - 0.5) * spread) % 1.0
    r, g, b = colorsys.hsv_to_rgb(h, saturation, min(1.0, value + (chance.random() - 0.5) * spread))
    return int(r * 255), int(g * 255), int(b * 255)


def _gradient(size: tuple[int, int], stops: list[Colour]) -> Picture:
    """A picture whose rows run through the colours from top to bottom."""
    from PIL import Image

    column = Image.new("RGB", (1, len(stops)))
    column.putdata(stops)
    return column.resize(size, Image.Resampling.BICUBIC)


def _ridge(chance: random.Random, width: int, base: float, swing: float) -> list[tuple[float, float]]:
    """The upper edge of a hill: a sum of three waves."""
    waves = [(chance.uniform(0.6, 1.0) / k, chance.uniform(0, 6.3), k) for k in (1, 2.3, 5.1)]
    steps = max(24, width // 16)
    return [
        (x * width / steps, base - swing * sum(a * math.sin(k * x / steps * 4 + p) for a, p, k in waves))
        for x in range(steps + 1)
    ]


def landscape(size: tuple[int, int], chance: random.Random) -> Picture:
    """Hills in front of each other under a sky with a sun."""
    from PIL import ImageDraw

    w, h = size
    hue = chance.uniform(0.2, 0.45)
    sky = chance.uniform(0.5, 0.62)
    image = _gradient(
        size, [_tone(chance, sky, 0.55, 0.85), _tone(chance, sky, 0.25, 0.97), _tone(chance, 0.09, 0.2, 1)]
    )
    draw = ImageDraw.Draw(image)
    x, y, r = chance.uniform(0.15, 0.85) * w, chance.uniform(0.1, 0.3) * h, 0.05 * min(size)
    draw.ellipse((x - r, y - r, x + r, y + r), fill=_tone(chance, 0.13, 0.3, 1))
    for layer in range(5):
        edge = _ridge(chance, w, h * (0.42 + 0.12 * layer), h * 0.07)
        colour = _tone(chance, hue, 0.25 + 0.11 * layer, 0.75 - 0.11 * layer)
        draw.polygon([*edge, (w, h), (0, h)], fill=colour)
    return image


def sea(size: tuple[int, int], chance: random.Random) -> Picture:
    """A horizon, bands of water, some boats."""
    from PIL import ImageDraw

    w, h = size
    dusk = chance.random()
    hue = 0.58 if dusk < 0.6 else 0.06
    image = _gradient(size, [_tone(chance, hue, 0.5, 0.8), _tone(chance, hue, 0.2, 1.0), _tone(chance, 0.55, 0.5, 0.7)])
    draw = ImageDraw.Draw(image)
    horizon = h * chance.uniform(0.4, 0.6)
    for band in range(9):
        top = horizon + (h - horizon) * (band / 9) ** 1.5
        edge = _ridge(chance, w, top, h * 0.004 * (band + 1))
        draw.polygon([*edge, (w, h), (0, h)], fill=_tone(chance, 0.55, 0.45 + 0.05 * band, 0.72 - 0.05 * band))
    for _ in range(1 + int(chance.random() * 3)):
        x, s = chance.uniform(0.1, 0.9) * w, h * chance.uniform(0.05, 0.13)
        y = horizon + s * chance.uniform(0.6, 1.6)
        draw.polygon(
            [(x - s, y), (x + s, y), (x + 0.7 * s, y + 0.4 * s), (x - 0.7 * s, y + 0.4 * s)],
            fill=_tone(chance, chance.random(), 0.6, 0.4),
        )
        draw.polygon(
            [(x, y - 0.1 * s), (x, y - 2 * s), (x + 0.8 * s, y - 0.1 * s)], fill=_tone(chance, 0.1, 0.08, 0.98)
        )
    return image


def still_life(size: tuple[int, int], chance: random.Random) -> Picture:
    """Round things and jars on a table."""
    from PIL import ImageDraw

    w, h = size
    wall = chance.random()
    image = _gradient(size, [_tone(chance, wall, 0.18, 0.85), _tone(chance, wall, 0.22, 0.7)])
    draw = ImageDraw.Draw(image)
    table = h * chance.uniform(0.58, 0.7)
    draw.rectangle((0, table, w, h), fill=_tone(chance, 0.08, 0.5, 0.5))
    for plank in range(1, 4):
        y = table + (h - table) * plank / 4
        draw.line((0, y, w, y), fill=_tone(chance, 0.08, 0.55, 0.38), width=max(1, h // 250))
    things = 3 + int(chance.random() * 4)
    for n in range(things):
        x, r = w * (n + 0.5 + chance.uniform(-0.2, 0.2)) / things, min(size) * chance.uniform(0.08, 0.16)
        foot = table + (h - table) * chance.uniform(0.15, 0.55)
        hue = chance.choice([0.02, 0.08, 0.12, 0.28, 0.78, 0.95])
        draw.ellipse((x - 1.2 * r, foot - 0.2 * r, x + 1.4 * r, foot + 0.2 * r), fill=_tone(chance, 0.08, 0.6, 0.3))
        if chance.random() < 0.4:
            draw.rectangle((x - 0.7 * r, foot - 2.6 * r, x + 0.7 * r, foot), fill=_tone(chance, hue, 0.45, 0.75))
            draw.rectangle((x - 0.8 * r, foot - 3 * r, x + 0.8 * r, foot - 2.6 * r), fill=_tone(chance, 0.1, 0.4, 0.6))
            draw.rectangle(
                (x - 0.5 * r, foot - 1.8 * r, x + 0.5 * r, foot - 0.8 * r), fill=_tone(chance, 0.14, 0.1, 0.96)
            )
        else:
            draw.ellipse((x - r, foot - 2 * r, x + r, foot), fill=_tone(chance, hue, 0.75, 0.8))
            draw.ellipse((x - 0.6 * r, foot - 1.7 * r, x - 0.2 * r, foot - 1.3 * r), fill=_tone(chance, hue, 0.3, 0.97))
    return image


def chart(size: tuple[int, int], chance: random.Random) -> Picture:
    """Axes with bars, or with lines and their points."""
    from PIL import Image, ImageDraw

    w, h = size
    image = Image.new("RGB", size, (252, 252, 250))
    draw = ImageDraw.Draw(image)
    left, right, top, bottom, thick = w * 0.1, w * 0.95, h * 0.08, h * 0.88, max(2, w // 300)
    for n in range(6):
        y = bottom - (bottom - top) * n / 6
        draw.line((left, y, right, y), fill=(222, 222, 218), width=1)
    hue, count = chance.random(), 6 + int(chance.random() * 7)
    step = (right - left) / count
    if chance.random() < 0.5:
        for n in range(count):
            y = bottom - (bottom - top) * chance.uniform(0.1, 0.95)
            draw.rectangle(
                (left + (n + 0.2) * step, y, left + (n + 0.8) * step, bottom), fill=_tone(chance, hue, 0.6, 0.7)
            )
    else:
        for series in range(2 + int(chance.random() * 2)):
            level, colour, points = chance.uniform(0.3, 0.7), _tone(chance, hue + 0.3 * series, 0.7, 0.65), []
            for n in range(count):
                level = min(0.95, max(0.05, level + chance.uniform(-0.15, 0.17)))
                points.append((left + (n + 0.5) * step, bottom - (bottom - top) * level))
            draw.line(points, fill=colour, width=2 * thick, joint="curve")
            for x, y in points:
                draw.ellipse((x - 2 * thick, y - 2 * thick, x + 2 * thick, y + 2 * thick), fill=colour)
    draw.line([(left, top), (left, bottom), (right, bottom)], fill=(60, 60, 60), width=thick)
    return image


def map_sheet(size: tuple[int, int], chance: random.Random) -> Picture:
    """Land with contour lines, a river, roads and places."""
    from PIL import Image, ImageDraw

    w, h = size
    image = Image.new("RGB", size, _tone(chance, 0.22, 0.14, 0.93))
    draw = ImageDraw.Draw(image)
    for _ in range(3):
        x, y, r = chance.random() * w, chance.random() * h, min(size) * chance.uniform(0.2, 0.4)
        wobble = [chance.uniform(0.75, 1.25) for _ in range(14)]
        for ring in range(5):
            s = r * (1 - ring / 6)
            points = [
                (x + s * k * math.cos(n * math.tau / 14), y + s * k * math.sin(n * math.tau / 14))
                for n, k in enumerate(wobble)
            ]
            draw.polygon(
                points,
                fill=_tone(chance, 0.18 - 0.02 * ring, 0.16 + 0.05 * ring, 0.9 - 0.05 * ring, 0.01),
                outline=(170, 140, 100),
            )
    river = _ridge(chance, w, h * chance.uniform(0.35, 0.65), h * 0.12)
    draw.line(river, fill=(110, 160, 205), width=max(3, h // 45), joint="curve")
    for _ in range(3):
        road = [(chance.random() * w, 0.0), (chance.random() * w, chance.random() * h), (chance.random() * w, float(h))]
        draw.line(road, fill=(196, 90, 60), width=max(2, h // 160), joint="curve")
    for _ in range(6):
        x, y, r = chance.random() * w, chance.random() * h, min(size) * 0.012
        draw.ellipse((x - r, y - r, x + r, y + r), fill=(40, 40, 40))
    return image


def town(size: tuple[int, int], chance: random.Random) -> Picture:
    """A row of houses with roofs and windows."""
    from PIL import ImageDraw

    w, h = size
    image = _gradient(
        size, [_tone(chance, 0.58, 0.35, 0.85), _tone(chance, 0.58, 0.1, 0.97), _tone(chance, 0.1, 0.1, 0.9)]
    )
    draw = ImageDraw.Draw(image)
    street, x = h * 0.88, -0.05 * w
    while x < w:
        wide, high = w * chance.uniform(0.1, 0.2), h * chance.uniform(0.3, 0.6)
        top = street - high
        draw.rectangle((x, top, x + wide, street), fill=_tone(chance, chance.uniform(0.02, 0.15), 0.35, 0.8))
        roof = _tone(chance, 0.02, 0.5, 0.45)
        draw.polygon([(x - 0.05 * wide, top), (x + wide / 2, top - high * 0.25), (x + 1.05 * wide, top)], fill=roof)
        for row in range(3):
            for column in range(3):
                left, upper = x + wide * (0.12 + 0.3 * column), top + high * (0.1 + 0.28 * row)
                lit = (250, 220, 140) if chance.random() < 0.3 else (70, 85, 105)
                draw.rectangle((left, upper, left + wide * 0.16, upper + high * 0.15), fill=lit)
        x += wide
    draw.rectangle((0, street, w, h), fill=_tone(chance, 0.1, 0.08, 0.5))
    return image


def night_sky(size: tuple[int, int], chance: random.Random) -> Picture:
    """Stars, a moon, a dark ridge."""
    from PIL import ImageDraw

    w, h = size
    image = _gradient(size, [(8, 10, 30), (20, 24, 60), _tone(chance, 0.68, 0.5, 0.4)])
    draw = ImageDraw.Draw(image)
    for _ in range(160):
        x, y, r = chance.random() * w, chance.random() * h * 0.85, chance.uniform(0.4, 2.2) * w / 900
        draw.ellipse((x - r, y - r, x + r, y + r), fill=_tone(chance, chance.random(), 0.15, 0.95))
    x, y, r = chance.uniform(0.2, 0.8) * w, chance.uniform(0.15, 0.4) * h, min(size) * chance.uniform(0.04, 0.1)
    draw.ellipse((x - r, y - r, x + r, y + r), fill=(240, 236, 214))
    for _ in range(5):
        a, b, s = x + chance.uniform(-0.6, 0.6) * r, y + chance.uniform(-0.6, 0.6) * r, r * chance.uniform(0.08, 0.2)
        draw.ellipse((a - s, b - s, a + s, b + s), fill=(205, 200, 180))
    draw.polygon([*_ridge(chance, w, h * 0.85, h * 0.05), (w, h), (0, h)], fill=(6, 8, 14))
    return image


def plant(size: tuple[int, int], chance: random.Random) -> Picture:
    """A branching stem with leaves and blossoms."""
    from PIL import ImageDraw

    w, h = size
    image = _gradient(size, [_tone(chance, 0.2, 0.12, 0.96), _tone(chance, 0.25, 0.25, 0.85)])
    draw = ImageDraw.Draw(image)
    bloom = chance.choice([0.0, 0.12, 0.8, 0.9])
    stack = [(w * 0.5, h * 0.98, -math.pi / 2, min(size) * 0.24, 6)]
    while stack:
        x, y, angle, length, left = stack.pop()
        a, b = x + length * math.cos(angle), y + length * math.sin(angle)
        draw.line((x, y, a, b), fill=_tone(chance, 0.25, 0.5, 0.4), width=max(1, left * w // 500))
        if left > 1:
            for turn in (-1, 1):
                stack.append(
                    (a, b, angle + turn * chance.uniform(0.2, 0.6), length * chance.uniform(0.68, 0.85), left - 1)
                )
            continue
        r = min(size) * chance.uniform(0.015, 0.03)
        fill = _tone(chance, bloom, 0.6, 0.9) if chance.random() < 0.3 else _tone(chance, 0.3, 0.6, 0.55)
        draw.ellipse((a - r, b - 0.7 * r, a + r, b + 0.7 * r), fill=fill)
    return image


def mosaic(size: tuple[int, int], chance: random.Random) -> Picture:
    """Tiles cut into triangles and discs."""
    from PIL import Image, ImageDraw

    w, h = size
    image = Image.new("RGB", size, _tone(chance, chance.random(), 0.1, 0.95))
    draw = ImageDraw.Draw(image)
    across, hue = 5 + int(chance.random() * 5), chance.random()
    side = w / across
    for row in range(int(h / side) + 1):
        for column in range(across):
            x, y = column * side, row * side
            box = (x, y, x + side, y + side)
            draw.rectangle(box, fill=_tone(chance, hue, chance.uniform(0.2, 0.6), 0.85))
            colour = _tone(chance, hue + chance.choice([0.0, 0.5, 0.33]), 0.6, 0.6)
            shape = chance.random()
            if shape < 0.4:
                draw.polygon([(x, y), (x + side, y), (x, y + side)], fill=colour)
            elif shape < 0.7:
                draw.pieslice(box, 0, 180 if shape < 0.55 else 270, fill=colour)
            elif shape < 0.9:
                draw.ellipse((x + side * 0.2, y + side * 0.2, x + side * 0.8, y + side * 0.8), fill=colour)
    return image


def apparatus(size: tuple[int, int], chance: random.Random) -> Picture:
    """Boxes, dials and wheels joined by lines: an instrument, a machine, a plan of one."""
    from PIL import Image, ImageDraw

    w, h = size
    image = Image.new("RGB", size, _tone(chance, 0.12, 0.06, 0.95))
    draw = ImageDraw.Draw(image)
    ink, thick = _tone(chance, 0.6, 0.5, 0.3), max(2, w // 250)
    spots = [(w * (0.18 + 0.32 * (n % 3)), h * (0.3 + 0.42 * (n // 3))) for n in range(6)]
    for (a, b), (c, d) in pairwise(spots):
        draw.line([(a, b), (c, b), (c, d)], fill=ink, width=thick)
    for x, y in spots:
        r, fill = min(size) * chance.uniform(0.09, 0.14), _tone(chance, chance.random(), 0.35, 0.85)
        if chance.random() < 0.45:
            draw.rectangle((x - 1.2 * r, y - 0.8 * r, x + 1.2 * r, y + 0.8 * r), fill=fill, outline=ink, width=thick)
            continue
        draw.ellipse((x - r, y - r, x + r, y + r), fill=fill, outline=ink, width=thick)
        for tooth in range(12):
            t = tooth * math.tau / 12
            draw.line(
                (x + 0.8 * r * math.cos(t), y + 0.8 * r * math.sin(t), x + r * math.cos(t), y + r * math.sin(t)),
                fill=ink,
                width=thick,
            )
        t = chance.uniform(0, math.tau)
        draw.line((x, y, x + 0.7 * r * math.cos(t), y + 0.7 * r * math.sin(t)), fill=(190, 50, 40), width=thick)
    return image


SCENES: dict[str, Scene] = {
    "landscape": landscape, "sea": sea, "still_life": still_life, "chart": chart, "map": map_sheet, "town": town,
    "night_sky": night_sky, "plant": plant, "mosaic": mosaic, "apparatus": apparatus,
}  # fmt: skip
