"""Text on a plain ground counts by what it covers, dark or light; what is in a photograph does not."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from obelics_pipeline.stages.fetch.quality.measure import measures_of
from obelics_pipeline.stages.fetch.quality.text_share import TILE, text_share
from tests.stages.fetch.quality.drawn import page, photograph


def of(picture: Image.Image) -> float:
    return measures_of(picture, ["text_share"])["text_share"]


@pytest.mark.parametrize(("ink", "ground"), [("black", "white"), ("white", "black"), ("navy", "beige")])
def test_a_page_is_text(ink: str, ground: str) -> None:
    assert of(page(ink=ink, ground=ground)) > 0.6


def test_the_share_is_of_the_area() -> None:
    assert of(page(below=0.5)) == pytest.approx(of(page()) / 2, abs=0.1)


def test_a_photograph_is_none() -> None:
    assert all(of(photograph(seed)) < 0.02 for seed in range(4))


def test_plain_shapes_are_none() -> None:
    picture = Image.new("RGB", (640, 480), "white")
    pen = ImageDraw.Draw(picture)
    pen.ellipse((100, 100, 400, 400), fill="red")
    pen.line((0, 0, 640, 480), fill="black", width=4)
    assert of(picture) == 0
    assert of(Image.new("RGB", (640, 480), "white")) == 0


def test_a_tile_alone_is_none_and_so_is_stripes() -> None:
    alone = np.full((3 * TILE, 3 * TILE), 255, np.uint8)
    alone[TILE : 2 * TILE, TILE : 2 * TILE] = np.asarray(page(below=0.5).convert("L"))[8 : 8 + TILE, 20 : 20 + TILE]
    stripes = np.tile(np.repeat(np.array([0, 255], np.uint8), 4), (4 * TILE, TILE // 2))
    assert text_share(alone) == text_share(stripes) == 0


@pytest.mark.parametrize("shape", [(TILE - 1, 500), (500, 2 * TILE - 1), (1, 1)])
def test_what_is_smaller_than_two_tiles_has_no_share(shape: tuple[int, int]) -> None:
    assert text_share(np.zeros(shape, np.uint8)) is None
