"""QR codes are found with their share of the area, turned or light on dark, and nothing else is one."""

import cv2
import numpy as np
import pytest
from PIL import Image, ImageOps

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.fetch.quality import qr_codes as module
from obelics_pipeline.stages.fetch.quality.measure import measures_of
from obelics_pipeline.stages.fetch.quality.qr_codes import area, demand_reader
from tests.stages.fetch.quality.drawn import page, photograph

NAMES = ("qr_codes", "qr_share")


def code(side: int, text: str = "https://a.example/") -> Image.Image:
    """By OpenCV; with a quiet zone."""
    modules = np.pad(cv2.QRCodeEncoder.create().encode(text)[2:-2, 2:-2], 4, constant_values=255)
    return Image.fromarray(modules).resize((side, side), Image.Resampling.NEAREST)


def of(picture: Image.Image) -> tuple[float, float]:
    found = measures_of(picture, NAMES)
    return found["qr_codes"], found["qr_share"]


@pytest.fixture(autouse=True)
def reader() -> None:
    pytest.importorskip("zxingcpp")


@pytest.mark.parametrize("angle", [0, 30, 90, 200])
def test_a_code_in_a_photograph_is_found_with_its_share(angle: int) -> None:
    picture, ink = photograph(), code(165)
    turned = ink.convert("RGBA").rotate(angle, Image.Resampling.BICUBIC, expand=True)
    picture.paste(turned, (200, 100), turned)
    count, share = of(picture)
    modules = np.asarray(cv2.QRCodeEncoder.create().encode("https://a.example/")).shape[0] - 4
    assert count == 1
    assert share == pytest.approx((165 * modules / (modules + 8)) ** 2 / (640 * 480), rel=0.05)


def test_codes_are_counted_also_light_on_dark() -> None:
    picture = photograph(width=800, height=600)
    picture.paste(code(200, "one"), (50, 50))
    picture.paste(ImageOps.invert(code(200, "two")), (450, 300))
    assert of(picture)[0] == 2


def test_nothing_else_is_a_code() -> None:
    grid = np.random.default_rng(0).integers(0, 2, (29, 29)).astype(np.uint8) * 255
    for other in (photograph(), page(), Image.fromarray(grid).resize((580, 580), Image.Resampling.NEAREST)):
        assert of(other) == (0, 0)


def test_the_area_is_that_of_the_corners() -> None:
    assert area([(0, 0), (4, 0), (4, 3), (0, 3)]) == area([(0, 3), (4, 3), (4, 0), (0, 0)]) == 12


def test_without_the_reader_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"obelics-pipeline\[quality\].*qr_share"):
        demand_reader()
