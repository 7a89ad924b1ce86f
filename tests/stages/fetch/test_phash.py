import io

import pytest
from PIL import Image, ImageDraw

from obelics_pipeline.stages.fetch.phash import SIDE, _shrunk, phash_of


def scene(seed: int, size: tuple[int, int] = (640, 480)) -> Image.Image:
    """A drawing that is the same at every size."""
    width, height = size
    image = Image.new("RGB", size, (200, 220 - seed, 240))
    draw = ImageDraw.Draw(image)
    for i in range(6):
        x, y = ((i * 7 + seed * 5) % 10) / 10 * width, ((i * 3 + seed * seed) % 10) / 10 * height
        colour = (i * 40, (seed * 60 + i * 25) % 255, 255 - i * 40)
        draw.ellipse((x, y, x + width * (0.1 + i / 20), y + height * 0.3), fill=colour)
    return image


def stored(image: Image.Image, format: str, **options: object) -> Image.Image:
    file = io.BytesIO()
    image.save(file, format, **options)
    return Image.open(file)


@pytest.mark.parametrize("format", ["png", "webp", "bmp", "tiff"])
def test_a_picture_looks_the_same_in_every_format(format: str) -> None:
    assert phash_of(stored(scene(1), format)) == phash_of(scene(1))


def test_a_picture_looks_the_same_in_another_size_and_quality() -> None:
    looks = {
        phash_of(stored(scene(1, size), "jpeg", quality=quality))
        for size in ((640, 480), (1280, 960))
        for quality in (60, 95)
    }
    assert len(looks) == 1


def test_other_pictures_look_different() -> None:
    assert len({phash_of(scene(seed)) for seed in range(8)}) == 8


def test_what_is_transparent_is_white() -> None:
    layered = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    layered.paste(scene(2, (32, 32)), (8, 8))
    plain = Image.new("RGB", (64, 64), "white")
    plain.paste(scene(2, (32, 32)), (8, 8))
    assert phash_of(layered) == phash_of(plain)
    palette = layered.quantize(64)
    assert phash_of(palette) == phash_of(palette.convert("RGBA"))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I", "F", "YCbCr", "I;16"])
def test_an_image_of_any_mode_and_any_size_has_a_look(mode: str) -> None:
    for size in ((1, 1), (1, 300), (300, 1), (257, 129)):
        assert len(phash_of(Image.new(mode, size))) == 16


@pytest.mark.parametrize(("mode", "size"), [("RGBA", (257, 391)), ("LA", (300, 1001)), ("RGBA", (90, 129))])
def test_alpha_weighs_as_it_does_where_the_whole_is_shrunk_at_once(mode: str, size: tuple[int, int]) -> None:
    layered = Image.effect_noise(size, 90).convert(mode)
    layered.putalpha(Image.effect_noise(size, 90))
    small = (min(SIDE, size[0]), SIDE)
    assert _shrunk(layered, small).tobytes() == layered.resize(small, Image.Resampling.BOX).tobytes()
