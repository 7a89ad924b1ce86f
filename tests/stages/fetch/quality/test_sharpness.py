"""Blur is seen at every resolution, also before and behind what is sharp, and a plain ground is no blur."""

import numpy as np
import pytest
from PIL import Image, ImageFilter

from obelics_pipeline.stages.fetch.quality.measure import measures_of
from obelics_pipeline.stages.fetch.quality.sharpness import TILE, sharpness
from tests.stages.fetch.quality.drawn import page, photograph


def of(picture: Image.Image) -> float:
    return measures_of(picture, ["sharpness"])["sharpness"]


@pytest.mark.parametrize("longest", [256, 512, 1600])
def test_a_blurred_picture_is_less_sharp_by_far(longest: int) -> None:
    picture = photograph(width=longest, height=longest * 3 // 4)
    blur = picture.filter(ImageFilter.GaussianBlur(3 * max(longest / 512, 1)))
    assert of(picture) > 10 * of(blur)


def test_an_enlarged_picture_is_blurred() -> None:
    picture = photograph()
    assert of(picture) > 10 * of(picture.resize((80, 60)).resize((640, 480), Image.Resampling.BICUBIC))


def test_a_large_picture_that_is_seen_small_is_as_sharp_as_a_small_one() -> None:
    small = photograph(width=512, height=384)
    large = small.resize((2048, 1536), Image.Resampling.NEAREST)
    assert of(large) == pytest.approx(of(small), rel=0.01)


def test_a_sharp_thing_on_a_plain_ground_is_sharp() -> None:
    picture = Image.new("RGB", (640, 480), "white")
    picture.paste(photograph(width=260, height=260), (190, 110))
    assert of(picture) > 0.4 * of(photograph(width=260, height=260))


def test_text_is_sharp_and_one_colour_is_not() -> None:
    assert of(page()) > 1000
    assert of(Image.new("RGB", (640, 480), "white")) == 0


def test_it_is_the_variance_of_the_laplacian_where_there_is_one_tile() -> None:
    grey = np.random.default_rng(0).integers(0, 256, (TILE + 2, TILE + 2)).astype(np.uint8)
    levels = grey.astype(float)
    around = levels[:-2, 1:-1] + levels[2:, 1:-1] + levels[1:-1, :-2] + levels[1:-1, 2:]
    assert sharpness(grey) == pytest.approx((4 * levels[1:-1, 1:-1] - around).var())


def test_the_harshest_contrast_does_not_overflow() -> None:
    board = (np.indices((62, 62)).sum(0) % 2 * 255).astype(np.uint8)
    assert sharpness(board) == pytest.approx((4 * 255) ** 2, rel=0.01)


@pytest.mark.parametrize("shape", [(2, 100), (100, 2), (1, 1)])
def test_what_has_no_inside_has_no_sharpness(shape: tuple[int, int]) -> None:
    assert sharpness(np.zeros(shape, np.uint8)) is None
