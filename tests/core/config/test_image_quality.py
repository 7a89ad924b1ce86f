"""What is measured of images is off by default, in one order, and refused where it could not mean anything."""

from typing import Any

import pytest

from obelics_pipeline.core.config import RunConfig


def config(**values: Any) -> RunConfig:
    return RunConfig.model_validate(values)


def test_without_it_a_config_is_what_it_was() -> None:
    assert "quality" not in RunConfig().images.model_dump(mode="json")
    assert RunConfig().images.measures == ()


def test_the_order_of_the_config_does_not_matter_to_what_is_measured() -> None:
    one = config(images={"quality": {"sharpness": {"min": 1}, "one_colour": {}}})
    other = config(images={"quality": {"one_colour": {}, "sharpness": {"min": 2}}})
    assert one.images.measures == other.images.measures == ("one_colour", "sharpness")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"images": {"quality": {"beauty": {}}}}, "one_colour"),
        ({"images": {"quality": {"sharpness": {"sample": [[1, 1]]}}}}, "documents are sampled"),
        ({"images": {"quality": {"sharpness": {"min": 2, "max": 1}}}}, "nothing would be kept"),
        ({"images": {"quality": {"sharpness": {}}}, "fetch": {"enabled": False}}, "fetch.enabled: true"),
        (
            {
                "images": {"quality": {"sharpness": {}}},
                "filters": {"paragraph": {"sharpness": {"use": "statistics:mean"}}},
            },
            "choose another",
        ),
    ],
)
def test_what_could_not_mean_anything_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        config(**values)
