"""Prices: each default says where it is from, each can be set, a wrong one is one line."""

import re

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.assumptions import Assumptions, assumptions_of


def test_each_default_has_a_source_and_a_date_or_says_that_it_has_none() -> None:
    for name, field in Assumptions.model_fields.items():
        said = field.description or ""
        assert re.search(r"20\d\d|No source|A choice|README|Decoding", said), name


def test_a_price_takes_the_place_of_the_default() -> None:
    assert assumptions_of(["vcpu_hour=0.01", "months=3"]).vcpu_hour == 0.01
    assert assumptions_of([]).months == 1.0


@pytest.mark.parametrize("wrong", ["vcpu=1", "vcpu_hour", "vcpu_hour=dear", "image_success=2", "put_1000=-1"])
def test_a_wrong_price_is_one_line(wrong: str) -> None:
    with pytest.raises(UserError) as error:
        assumptions_of([wrong])
    assert wrong.partition("=")[0] in str(error.value)
    assert "\n" not in str(error.value)
