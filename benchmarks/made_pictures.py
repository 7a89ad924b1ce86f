"""Pictures made by a seed: photograph-like ones, things on a plain ground, blank ones, pages of text, QR codes in them.

A photograph-like one is of leaves that cover each other, with a texture whose spectrum falls as that of photographs
does: dead leaves (Lee, Mumford and Huang, Occlusion models for natural images, 2001).
"""

from __future__ import annotations

import io
from typing import Any

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from obelics_pipeline.stages.fetch.quality.sharpness import SIDE

Pixels = NDArray[np.uint8]
WORDS = """the boat lies under old stones and nobody at the harbour knows who built its seven green lamps before winter
came for those few families that stayed while rain filled every street with brown water""".split()
HERSHEY = (0, 1, 2, 3, 4, 6, 7)  # the fonts of OpenCV that are letters


def size(draw: Generator, longest: tuple[int, ...] = (200, 320, 512, 800, 1280)) -> tuple[int, int]:
    """Width and height, of a ratio that the rules of images allow."""
    long = int(draw.choice(longest))
    short = int(long * draw.uniform(0.55, 1))
    return (long, short) if draw.random() < 0.6 else (short, long)


def stored(picture: Image.Image, draw: Generator) -> Image.Image:
    """As JPEG gives it back, at a quality of 60 to 95."""
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=int(draw.integers(60, 96)))
    return Image.open(io.BytesIO(file.getvalue())).convert("RGB")


def leaves(draw: Generator, width: int, height: int) -> Image.Image:
    """Textured leaves of all sizes that cover each other."""
    grounds = [_texture(draw, width, height) for _ in range(3)]
    picture = grounds[0].copy()
    count = int(draw.integers(100, 400))
    least, most = 0.006 * min(width, height) + 1, 0.35 * min(width, height)
    radii = np.sort(1 / np.sqrt(draw.uniform(1 / most**2, 1 / least**2, count)))[::-1]
    for number, radius in enumerate(radii):
        x, y, wide = draw.uniform(0, width), draw.uniform(0, height), radius * draw.uniform(0.4, 1.6)
        left, top = max(0, int(x - wide)), max(0, int(y - radius))
        right, bottom = min(width, int(x + wide) + 1), min(height, int(y + radius) + 1)
        down, across = np.mgrid[top:bottom, left:right]
        inside = ((across - x) / wide) ** 2 + ((down - y) / radius) ** 2 <= 1
        if draw.random() < 0.3:
            inside[:] = True
        cover = grounds[number % 3][top:bottom, left:right] + draw.normal(0, 45, 3)
        picture[top:bottom, left:right][inside] = cover[inside]
    return _image(picture)


def thing(draw: Generator, width: int, height: int) -> Image.Image:
    """A thing on a plain ground, as shops show it."""
    ground = (255, 255, 255) if draw.random() < 0.6 else tuple(int(v) for v in draw.integers(190, 256, 3))
    picture = Image.new("RGB", (width, height), ground)
    picture.paste(leaves(draw, width, height), mask=_middle(width, height, draw.uniform(0.15, 0.4)))
    return picture


def subject(draw: Generator, width: int, height: int) -> Image.Image:
    """A sharp subject before a ground that is out of focus."""
    sharp = leaves(draw, width, height)
    picture = blurred(sharp, draw, draw.uniform(4, 10))
    picture.paste(sharp, mask=_middle(width, height, draw.uniform(0.2, 0.35)))
    return picture


def blank(draw: Generator, width: int, height: int) -> Image.Image:
    """One colour, with grain, a frame or a small mark in a corner, as placeholders are."""
    ground = draw.integers(0, 256, 3)
    picture = np.broadcast_to(ground, (height, width, 3)) + draw.normal(0, draw.uniform(0, 4), (height, width, 1))
    made = _image(picture)
    kind = draw.integers(4)
    if kind == 1:
        ImageDraw.Draw(made).rectangle((0, 0, width - 1, height - 1), outline=tuple(int(255 - v) for v in ground))
    elif kind == 2:
        mark = leaves(draw, max(8, width // 12), max(8, height // 12))
        made.paste(mark, (int(width * 0.85), int(height * 0.85)))
    return made


def chessboard(draw: Generator, width: int, height: int) -> Image.Image:
    """Squares of two colours at random: a grid as a QR code has one, that says nothing."""
    modules = draw.integers(0, 2, (29, 29)).astype(np.uint8) * 255
    return Image.fromarray(modules).resize((width, height), Image.Resampling.NEAREST).convert("RGB")


def page(draw: Generator, width: int, height: int) -> tuple[Image.Image, float]:
    """Lines of text on a plain ground, in Pillow's font or one of OpenCV's; and the share that the lines take."""
    dark, light = (tuple(int(v) for v in draw.integers(*bounds, 3)) for bounds in ((0, 80), (190, 256)))
    ink, ground = (dark, light) if draw.random() < 0.75 else (light, dark)
    picture = np.full((height, width, 3), ground, np.uint8)
    tall = int(np.clip(max(width, height) * draw.choice([0.016, 0.022, 0.03, 0.05]), 9, 80))
    below = height * draw.uniform(0.4, 1)
    write = _pillow if draw.random() < 0.5 else _hershey
    font, covered, top = int(draw.choice(HERSHEY)), 0, tall
    while top + 1.4 * tall < below:
        room = int((width - 2 * tall) * (1 if draw.random() < 0.8 else draw.uniform(0.3, 0.9)))
        picture, wide = write(picture, " ".join(draw.choice(WORDS, 40)), (tall, top), tall, room, ink, font)
        covered += wide * tall
        top += int(1.45 * tall)
    return Image.fromarray(picture), covered / (width * height)


def blurred(picture: Image.Image, draw: Generator, pixels: float) -> Image.Image:
    """Out of focus, or enlarged. `pixels` is the standard deviation of the blur where the longer side is `SIDE`."""
    deviation = pixels * max(max(picture.size) / SIDE, 1)
    kind = draw.integers(3)
    if kind == 0:
        return picture.filter(ImageFilter.GaussianBlur(deviation))
    if kind == 1:  # a disc of the same deviation, as a lens makes it
        radius = max(1, round(2 * deviation))
        down, across = np.mgrid[-radius : radius + 1, -radius : radius + 1]
        disc = (down**2 + across**2 <= radius**2).astype(np.float32)
        return Image.fromarray(cv2.filter2D(np.asarray(picture), -1, disc / disc.sum()))
    small = picture.resize([max(1, round(side / (2.2 * deviation))) for side in picture.size], Image.Resampling.BOX)
    return small.resize(picture.size, Image.Resampling.BICUBIC)


def with_qr_code(picture: Image.Image, draw: Generator, share: float) -> tuple[Image.Image, float]:
    """A QR code that takes about so much of a picture, turned and seen aslant; and how much it takes."""
    encoder = cv2.QRCodeEncoder.create()
    code = encoder.encode("https://example.com/" + "".join(draw.choice(list("abcdefghij"), int(draw.integers(1, 60)))))
    modules = np.pad(code[2:-2, 2:-2], 4, constant_values=255)  # a quiet zone as the standard asks for, not of two
    quiet, side = 4, modules.shape[0]
    across = np.sqrt(share * picture.width * picture.height)
    edge = min(across * side / (side - 2 * quiet), 0.95 * min(picture.size)) / 2
    turn = draw.uniform(-0.25, 0.25) + draw.integers(4) * np.pi / 2
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * edge
    square += draw.uniform(-0.08, 0.08, (4, 2)) * edge
    turned = square @ np.array([(np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))])
    room = np.array(picture.size) / 2 - np.abs(turned).max(0)
    corners = (turned + np.array(picture.size) / 2 + draw.uniform(-1, 1, 2) * np.maximum(room, 0)).astype(np.float32)
    scale = 8
    large = cv2.resize(modules, None, fx=scale, fy=scale, interpolation=cv2.INTER_NEAREST)
    if 2 * edge < large.shape[0]:
        shape = (max(side, round(2 * edge)),) * 2
        large = cv2.resize(large, shape, interpolation=cv2.INTER_AREA)
    end = large.shape[0]
    source = np.array([(0, 0), (end, 0), (end, end), (0, end)], np.float32)
    onto = cv2.getPerspectiveTransform(source, corners)
    lain = cv2.warpPerspective(large, onto, picture.size, flags=cv2.INTER_LINEAR)
    mask = cv2.warpPerspective(np.full_like(large, 255), onto, picture.size, flags=cv2.INTER_NEAREST)
    pixels = np.where(mask[..., None] > 0, lain[..., None], np.asarray(picture))
    inner = cv2.perspectiveTransform((source / end * (side - 2 * quiet) + quiet)[None] / side * end, onto)[0]
    return Image.fromarray(pixels.astype(np.uint8)), cv2.contourArea(inner) / (picture.width * picture.height)


def _texture(draw: Generator, width: int, height: int) -> NDArray[np.float64]:
    """Noise whose amplitude falls with the frequency, in a colour and its shades."""
    frequencies = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None])
    frequencies[0, 0] = 1
    shape = frequencies.shape
    waves = (draw.normal(size=shape) + 1j * draw.normal(size=shape)) * frequencies ** -draw.uniform(0.9, 1.4)
    noise = np.fft.irfft2(waves, (height, width))
    noise = (noise - noise.mean()) / noise.std()
    coloured: NDArray[np.float64] = draw.uniform(40, 215, 3) + noise[..., None] * draw.normal(size=3) * draw.uniform(
        8, 30
    )
    return coloured


def _image(pixels: NDArray[Any]) -> Image.Image:
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _middle(width: int, height: int, part: float) -> Image.Image:
    mask = Image.new("L", (width, height))
    box = (width * (0.5 - part), height * (0.5 - part), width * (0.5 + part), height * (0.5 + part))
    ImageDraw.Draw(mask).ellipse(box, fill=255)
    return mask.filter(ImageFilter.GaussianBlur(0.6))


def _pillow(
    pixels: Pixels, text: str, at: tuple[int, int], tall: int, room: int, ink: Any, _font: int
) -> tuple[Pixels, int]:
    picture, font = Image.fromarray(pixels), ImageFont.load_default(tall)
    pen = ImageDraw.Draw(picture)
    while text and pen.textlength(text, font=font) > room:
        text = text.rpartition(" ")[0]
    pen.text(at, text, font=font, fill=ink)
    return np.array(picture), int(pen.textlength(text, font=font))


def _hershey(
    pixels: Pixels, text: str, at: tuple[int, int], tall: int, room: int, ink: Any, font: int
) -> tuple[Pixels, int]:
    thick = max(1, tall // 14)
    scale = cv2.getFontScaleFromHeight(font, int(tall * 0.72), thick)

    def wide(of: str) -> int:
        return int(cv2.getTextSize(of, font, scale, thick)[0][0]) if of else 0

    while wide(text) > room:
        text = text.rpartition(" ")[0]
    cv2.putText(pixels, text, (at[0], at[1] + tall), font, scale, ink, thick, cv2.LINE_AA)
    return pixels, wide(text)
