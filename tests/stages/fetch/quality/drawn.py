"""Pictures drawn by numbers alone."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont


def photograph(seed: int = 0, width: int = 640, height: int = 480) -> Image.Image:
    """Shades in noise, with edges: nothing of it is flat."""
    draw = np.random.default_rng(seed)
    coarse = draw.integers(0, 256, (12, 16, 3)).astype(np.uint8)
    shades = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)).astype(float)
    picture = Image.fromarray((shades + draw.normal(0, 6, shades.shape)).clip(0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(picture)
    for _ in range(30):
        x, y, radius = draw.uniform(0, width), draw.uniform(0, height), draw.uniform(10, 60)
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=tuple(draw.integers(0, 256, 3)), width=3)
    return picture


def page(
    width: int = 640, height: int = 480, ink: str = "black", ground: str = "white", below: float = 1
) -> Image.Image:
    """Lines of letters, down to a share of its height."""
    picture, font = Image.new("RGB", (width, height), ground), ImageFont.load_default(16)
    pen = ImageDraw.Draw(picture)
    for top in range(10, int(height * below) - 20, 24):
        pen.text((10, top), "the old boat lies below the harbour wall and waits for rain " * 2, font=font, fill=ink)
    return picture
