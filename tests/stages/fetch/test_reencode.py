"""Re-encoding happens where the config asks for it, and gets every kind of image right."""

import io
import struct
import sys
import zlib

import pytest
from PIL import Image

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.stages.fetch.image_check import ImageFacts, check_image
from obelics_pipeline.stages.fetch.reencode import Reencoder
from obelics_pipeline.stages.fetch.value import check
from tests.stages.fetch.site import picture


def reencode(content: bytes, **options: object) -> tuple[Image.Image, ImageFacts]:
    config = FetchingConfig(**{"reencode": "jpeg", **options})
    new, facts = Reencoder(config)(content, check_image(content, config))
    image = Image.open(io.BytesIO(new))
    assert ((image.format or "").lower(), *image.size) == (facts.format, facts.width, facts.height)
    return image, facts


def saved(image: Image.Image, format: str = "PNG") -> bytes:
    file = io.BytesIO()
    image.save(file, format)
    return file.getvalue()


@pytest.mark.parametrize("format", ["jpeg", "png", "webp"])
def test_every_target_format_is_what_the_facts_say(format: str) -> None:
    assert reencode(picture("PNG", (40, 30)), reencode=format)[1] == ImageFacts(format, 40, 30)


def test_the_longest_side_is_the_configs_and_nothing_grows() -> None:
    assert reencode(picture("PNG", (400, 200)), reencode_size=100)[1] == ImageFacts("jpeg", 100, 50)
    assert reencode(picture("PNG", (40, 20)), reencode_size=100)[1] == ImageFacts("jpeg", 40, 20)


@pytest.mark.parametrize(
    "image",
    [
        Image.new("RGB", (20, 20), (200, 100, 50)),
        Image.new("RGBA", (20, 20), (200, 100, 50, 255)),
        Image.new("RGB", (20, 20), (200, 100, 50)).quantize(),
    ],
    ids=["plain", "alpha", "palette"],
)
def test_colours_stay(image: Image.Image) -> None:
    pixel = reencode(saved(image))[0].convert("RGB").getpixel((10, 10))
    assert isinstance(pixel, tuple)
    assert all(abs(a - b) < 6 for a, b in zip(pixel, (200, 100, 50), strict=True))


def test_without_img2dataset_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "img2dataset", None)
    with pytest.raises(UserError, match=r"fetch\.reencode needs img2dataset.*pip install 'obelics-pipeline\[img2data"):
        check(RunConfig(fetch={"reencode": "webp"}))
    assert check(RunConfig()) == []


def test_transparency_becomes_white() -> None:
    assert min(reencode(saved(Image.new("RGBA", (20, 20), (0, 0, 0, 0))))[0].convert("RGB").getpixel((5, 5))) > 250  # type: ignore[arg-type]


def test_sixteen_bits_are_scaled_and_not_clipped() -> None:
    deep = Image.new("I;16", (20, 20), 100 * 257)
    assert abs(reencode(saved(deep))[0].convert("L").getpixel((5, 5)) - 100) < 4  # type: ignore[operator]


def test_what_would_need_too_much_memory_has_a_reason() -> None:
    with pytest.raises(FetchError, match="too_many_pixels"):
        reencode(saved(Image.new("RGBA", (100, 100))), max_pixels=20_000)


def test_sixteen_bits_of_colour_are_scaled_too() -> None:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = (b"\0" + struct.pack(">HHH", 200 * 257, 100 * 257, 50 * 257) * 20) * 20
    header = struct.pack(">IIBBBBB", 20, 20, 16, 2, 0, 0, 0)
    deep = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    pixel = reencode(deep)[0].convert("RGB").getpixel((10, 10))
    assert isinstance(pixel, tuple)
    assert all(abs(a - b) < 6 for a, b in zip(pixel, (200, 100, 50), strict=True))
