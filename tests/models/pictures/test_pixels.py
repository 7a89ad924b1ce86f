from __future__ import annotations

import io

import numpy as np
import pytest

from obelics_pipeline.models.pictures import pixels
from obelics_pipeline.models.pictures.pixels import Fit, Interpolation, picture

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
    content = file(width, height)
    ours = picture(content, 32)
    expected = by_open_clip(content)
    assert ours is not None and ours.shape == (32, 32, 3) and ours.dtype == np.uint8
    assert np.abs(ours - expected).max() <= 1


def by_open_clip(content: bytes, fit: Fit = "shortest", interpolation: Interpolation = "bicubic") -> np.ndarray:
    pytest.importorskip("tests.models.similarity.tiny")  # skips where a package is missing, and imports torchvision
    open_clip = pytest.importorskip("open_clip")
    options = {"resize_mode": fit, "interpolation": interpolation}
    transform = open_clip.image_transform(32, is_train=False, mean=(0, 0, 0), std=(1, 1, 1), **options)
    return np.round(transform(Image.open(io.BytesIO(content))).permute(1, 2, 0).numpy() * 255)


@pytest.mark.parametrize("interpolation", ["bicubic", "bilinear"])
@pytest.mark.parametrize("fit", ["shortest", "squash"])
def test_it_is_fitted_into_a_square_as_open_clip_would_do_it(fit: Fit, interpolation: Interpolation) -> None:
    content = file(90, 50)
    ours, expected = picture(content, 32, fit, interpolation), by_open_clip(content, fit, interpolation)
    assert ours is not None and np.abs(ours - expected).max() <= 1
    other = picture(content, 32, "squash" if fit == "shortest" else "shortest", interpolation)
    assert other is not None and np.abs(other - expected).max() > 5


def test_of_an_animation_the_first_picture_is_taken() -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue")]
    frames[0].save(out := io.BytesIO(), "GIF", save_all=True, append_images=frames[1:])
    found = picture(out.getvalue(), 16)
    assert found is not None and tuple(found[8, 8]) == (255, 0, 0)


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
