"""The picture that is measured is the same picture in every mode, and costs no more memory than a small one."""

import io

import numpy as np
import pytest
from PIL import Image

from obelics_pipeline.stages.fetch.quality import working as module
from obelics_pipeline.stages.fetch.quality.working import LONGEST, shrunk, working
from tests.stages.fetch.quality.drawn import photograph


def far(one: Image.Image, other: Image.Image) -> int:
    """The largest difference of two pictures, in levels."""
    pixels, others = (np.asarray(picture.convert("RGB")).astype(int) for picture in (one, other))
    return int(np.abs(pixels - others).max())


def test_the_longer_side_is_held_and_a_smaller_picture_keeps_its_size() -> None:
    assert working(Image.new("RGB", (4000, 1000))).size == (LONGEST, 256)
    assert working(Image.new("RGB", (300, 200))).size == (300, 200)
    assert working(Image.new("L", (1, 100_000))).size == (1, LONGEST)
    assert working(Image.new("RGBA", (100_000, 1))).size == (LONGEST, 1)
    assert shrunk(Image.new("RGB", (LONGEST, 512)), 256).size == (256, 128)


@pytest.mark.parametrize("mode", ["RGBA", "P", "PA", "YCbCr", "CMYK"])
def test_a_picture_is_the_same_in_every_mode_of_colour(mode: str) -> None:
    large = photograph(width=1500, height=1200)
    if mode in ("P", "PA"):
        large = large.quantize(64).convert("RGB")
    other = large.quantize(64).convert(mode) if mode in ("P", "PA") else large.convert(mode)
    assert far(working(large), working(other)) <= 3


@pytest.mark.parametrize("mode", ["1", "I", "I;16", "F"])
def test_a_grey_picture_is_the_same_in_every_depth(mode: str) -> None:
    grey = photograph(width=1300, height=1100).convert("L")
    if mode == "1":
        grey = grey.convert("1").convert("L")
    levels = np.asarray(grey)
    deep = {"1": lambda: grey.convert("1"), "F": lambda: grey.convert("F")}
    wide = Image.fromarray(levels.astype(np.uint16) * 257) if mode.startswith("I") else None
    other = deep[mode]() if wide is None else wide if mode == "I;16" else wide.convert("I")
    assert other.mode == mode
    assert far(working(grey), working(other)) <= 3


def test_what_is_transparent_is_white_before_pixels_become_one() -> None:
    striped = Image.new("RGBA", (2048, 2048), (0, 0, 0, 255))
    striped.paste((200, 0, 0, 0), (1024, 0, 2048, 2048))
    small = working(striped)
    assert small.getpixel((0, 0)) == (0, 0, 0) and small.getpixel((1000, 1000)) == (255, 255, 255)


def test_a_colour_of_png_that_is_transparent_is_white() -> None:
    file = io.BytesIO()
    Image.new("RGB", (50, 50), (10, 20, 30)).save(file, "PNG", transparency=(10, 20, 30))
    with Image.open(file) as opened:
        assert working(opened).getpixel((5, 5)) == (255, 255, 255)


def test_strips_leave_no_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = photograph(width=1500, height=1300).convert("RGBA")
    whole = working(picture)
    monkeypatch.setattr(module, "STRIP_PIXELS", 1500 * 7)
    assert far(working(picture), whole) <= 1
