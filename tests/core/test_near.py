"""A misspelled name is answered with the valid one that it is most like."""

import pytest

from obelics_pipeline.core.near import did_you_mean


@pytest.mark.parametrize(
    ("name", "valid", "answer"),
    [
        ("enabeld", ["enabled", "buckets"], "; did you mean enabled?"),
        ("word_cuont", ["word_count", "word_ratio"], "; did you mean word_count?"),
        ("xyzzy", ["enabled", "buckets"], ""),
        ("x", [], ""),
    ],
)
def test_the_most_alike_valid_name_is_suggested_and_none_that_is_not_alike(
    name: str, valid: list[str], answer: str
) -> None:
    assert did_you_mean(name, valid) == answer
