from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from obelics_pipeline.models.pictures.whole import whole_picture
from tests.models.pictures.illustrated import bomb, noise, png


def encoded(image: Image.Image, kind: str) -> bytes:
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def test_a_small_image_is_as_it_is() -> None:
    picture = noise(20)[0]
    found = whole_picture(png(picture), 400)
    assert found is not None and (found == picture).all()


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_large_one_is_made_smaller_in_its_own_shape(kind: str) -> None:
    found = whole_picture(encoded(Image.new("RGB", (800, 200), (250, 10, 10)), kind), 4000)
    assert found is not None and found.shape == (31, 126, 3)
    assert np.abs(found.astype(int) - [250, 10, 10]).max() < 8


def test_grey_and_transparent_ones_are_rgb() -> None:
    for mode in ("L", "RGBA", "P"):
        found = whole_picture(encoded(Image.new(mode, (6, 4)), "PNG"), 100)
        assert found is not None and found.shape == (4, 6, 3)


@pytest.mark.parametrize(
    "content", [b"", b"<html>", bomb(), encoded(Image.new("L", (510, 10)), "PNG"), png(noise(40)[0])[:900]]
)
def test_no_image_a_damaged_one_a_bomb_and_a_strip_cost_themselves_only(content: bytes) -> None:
    assert whole_picture(content, 100) is None
