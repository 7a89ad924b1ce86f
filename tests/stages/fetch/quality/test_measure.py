"""What is asked for is measured, of every picture that is decoded; what does not apply is left out."""

from collections.abc import Sequence
from typing import get_args

import pytest
from PIL import Image

from obelics_pipeline.core.config.sharding import ImageMeasure
from obelics_pipeline.core.document import IMAGE_MEASURES
from obelics_pipeline.stages.fetch.quality.measure import OF_QR_CODES, measures_of
from tests.stages.fetch.quality.drawn import photograph

OTHERS = [name for name in IMAGE_MEASURES if name not in OF_QR_CODES]


def test_the_config_names_the_measures_that_there_are() -> None:
    assert get_args(ImageMeasure) == IMAGE_MEASURES


@pytest.mark.parametrize("names", [(), *((name,) for name in OTHERS), OTHERS])
def test_what_is_asked_for_is_measured_and_no_more(names: Sequence[str]) -> None:
    assert list(measures_of(photograph(), names)) == list(names)


@pytest.mark.parametrize("name", IMAGE_MEASURES)
def test_each_can_be_asked_for(name: str) -> None:
    if name in OF_QR_CODES:
        pytest.importorskip("zxingcpp")
    assert list(measures_of(photograph(), [name])) == [name]


@pytest.mark.parametrize("size", [(1, 1), (1, 100_000), (100_000, 1), (2, 2)])
def test_a_picture_that_is_too_small_is_of_one_colour_and_no_more(size: tuple[int, int]) -> None:
    assert measures_of(Image.new("RGB", size), OTHERS) == {"one_colour": 1.0}
