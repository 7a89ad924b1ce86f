"""A blank picture is nearly of one colour, whatever the colour, and other pictures are not."""

import numpy as np
import pytest
from PIL import Image

from obelics_pipeline.stages.fetch.quality.measure import measures_of
from obelics_pipeline.stages.fetch.quality.one_colour import one_colour
from tests.stages.fetch.quality.drawn import page, photograph


def of(picture: Image.Image) -> float:
    return measures_of(picture, ["one_colour"])["one_colour"]


@pytest.mark.parametrize("level", [0, 7, 15, 16, 128, 200, 255])
def test_a_blank_picture_with_grain_has_one_colour(level: int) -> None:
    grain = np.random.default_rng(level).normal(level, 3, (480, 640, 3)).clip(0, 255).astype(np.uint8)
    assert of(Image.fromarray(grain)) > 0.99


def test_a_small_mark_leaves_a_picture_nearly_blank() -> None:
    picture = Image.new("RGB", (640, 480), (30, 90, 160))
    picture.paste(photograph(width=50, height=50), (580, 420))
    assert 0.98 < of(picture) < 1


def test_a_photograph_and_a_page_are_not_of_one_colour() -> None:
    assert of(photograph()) < 0.3
    assert of(page()) < 0.9


def test_it_is_the_share_of_the_commonest() -> None:
    picture = Image.new("RGB", (400, 400), "red")
    picture.paste((0, 0, 255), (0, 0, 400, 100))
    assert of(picture) == 0.75


def test_colours_that_differ_in_one_channel_alone_are_two() -> None:
    pixels = np.zeros((10, 10, 3), np.uint8)
    pixels[:4, :, 2] = 40
    assert one_colour(pixels) == 0.6
