from __future__ import annotations

import io

import numpy as np
import pytest

from models.flamingo import pixels
from models.flamingo.pixels import picture

Image = pytest.importorskip("PIL.Image")


def file(width: int, height: int, kind: str = "PNG", mode: str = "RGB") -> bytes:
    """A picture whose colours run from left to right and from top to bottom."""
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    raw = np.stack([x, y, (x + y) / 2], -1).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(raw).convert(mode).save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(("width", "height"), [(640, 480), (481, 333), (17, 90), (8, 8), (3000, 2000)])
def test_it_is_the_middle_square_as_open_clip_would_cut_it(width: int, height: int) -> None:
    pytest.importorskip("tests.models.flamingo.tiny")  # skips where a package is missing, and imports torchvision
    open_clip = pytest.importorskip("open_clip")
    content = file(width, height)
    theirs = open_clip.image_transform(32, is_train=False, mean=(0, 0, 0), std=(1, 1, 1))(
        Image.open(io.BytesIO(content))
    )
    expected = np.round(theirs.permute(1, 2, 0).numpy() * 255)
    ours = picture(content, 32)
    assert ours is not None and ours.shape == (32, 32, 3) and ours.dtype == np.uint8
    assert np.abs(ours - expected).max() <= 1


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_every_format_that_is_fetched_can_be_read(kind: str) -> None:
    found = picture(file(64, 48, kind), 16)
    assert found is not None and found.std() > 10


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "1"])
def test_every_colour_mode_becomes_rgb(mode: str) -> None:
    found = picture(file(20, 20, "TIFF", mode), 16)
    assert found is not None and found.shape == (16, 16, 3)


@pytest.mark.parametrize("size", [(1600, 1200), (200, 150)])
def test_a_large_jpeg_looks_the_same_when_it_is_decoded_smaller(size: tuple[int, int]) -> None:
    coarse = Image.fromarray(np.random.default_rng(0).integers(0, 256, (15, 20, 3), dtype=np.uint8))
    found = []
    for kind in ("JPEG", "PNG"):
        coarse.resize(size, Image.Resampling.BICUBIC).save(out := io.BytesIO(), kind)
        found.append(picture(out.getvalue(), 32))
    decoded_smaller, exact = found
    assert decoded_smaller is not None and exact is not None
    assert np.abs(decoded_smaller.astype(int) - exact).mean() < 4


@pytest.mark.parametrize("shape", [(1, 20_000), (20_000, 1), (1, 1)])
def test_a_picture_of_extreme_shape_costs_no_more_than_another(shape: tuple[int, int]) -> None:
    found = picture(file(*shape), 224)
    assert found is not None and found.shape == (224, 224, 3)


@pytest.mark.parametrize(
    "content", [b"", b"no image", b"%!PS-Adobe-3.0 EPSF-3.0\n", file(64, 64)[:200], file(64, 64, "JPEG")[:300]]
)
def test_bytes_that_are_no_whole_image_are_none(content: bytes) -> None:
    assert picture(content, 16) is None


@pytest.mark.parametrize("kind", ["PPM", "TGA", "ICO"])
def test_formats_that_are_not_fetched_are_not_opened(kind: str) -> None:
    assert picture(file(32, 32, kind), 16) is None


def test_an_image_of_too_many_pixels_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    content = file(100, 100)
    assert picture(content, 16) is not None
    monkeypatch.setattr(pixels, "MAX_PIXELS", 9_999)
    assert picture(content, 16) is None
