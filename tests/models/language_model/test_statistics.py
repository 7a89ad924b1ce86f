from __future__ import annotations

import math

import numpy as np
import pytest

from obelics_pipeline.models.language_model.columns import COLUMNS
from obelics_pipeline.models.language_model.statistics import Measured, Scored, statistics


def measured(*rows: tuple[float, float, float, float, float]) -> Measured:
    return np.array(rows, np.float32).reshape(-1, 5)


SEEN = measured((1, 0, 2, 4, 8), (3, 2, 4, 5, 2))
ALL = Scored(SEEN, measured((2, 0, 0, 1, 0), (4, 0, 0, 1, 0)), SEEN, 4, 1)


def test_the_columns_are_those_that_are_named() -> None:
    assert tuple(statistics(ALL)) == COLUMNS
    assert tuple(statistics(Scored(measured(), None, None, 0, 0))) == COLUMNS


def test_each_column_is_what_its_name_says() -> None:
    found = statistics(ALL)
    expected = {
        "lm_tokens": 2,
        "lm_images_seen": 1,
        "lm_loss": 2,
        "lm_bits_per_byte": 1 / math.log(2),
        "lm_loss_p50": 2,
        "lm_loss_worst_stretch": 2,
        "lm_loss_without_images": 3,
        "lm_image_gain": 1,
        "lm_log_rank": 1,
        "lm_entropy": 3,
        "lm_curvature": (-4 + 6) / 3,  # sums: log p, less its expectation, by the root of the variances
        "lm_binoculars": 2 / 5,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_what_was_not_measured_is_null() -> None:
    found = statistics(Scored(SEEN, None, None, 0, 0))
    nulls = {name for name, value in found.items() if value is None}
    assert nulls == {"lm_bits_per_byte", "lm_loss_without_images", "lm_image_gain", "lm_binoculars"}


def test_a_document_without_text_has_counts_only() -> None:
    found = statistics(Scored(measured(), measured(), measured(), 0, 2))
    assert {name for name, value in found.items() if value is not None} == {"lm_tokens", "lm_images_seen"}


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("part", range(5))
def test_where_a_number_is_not_finite_all_that_is_computed_of_it_is_nan(wrong: float, part: int) -> None:
    broken = SEEN.copy()
    broken[0, part] = wrong
    found = statistics(Scored(broken, None, broken, 4, 0))
    measures = {v for name, v in found.items() if name not in ("lm_tokens", "lm_images_seen") and v is not None}
    assert measures and all(math.isnan(v) for v in measures)


def test_where_only_the_text_alone_is_not_finite_only_what_needs_it_is_nan() -> None:
    found = statistics(Scored(SEEN, measured((math.nan, 0, 0, 0, 0), (1, 0, 0, 0, 0)), None, 4, 1))
    assert found["lm_loss"] == 2 and math.isnan(found["lm_image_gain"] or 0)


def test_a_model_that_is_sure_of_every_token_has_no_curvature() -> None:
    sure = measured((0, 0, 0, 0, 0))
    assert statistics(Scored(sure, None, sure, 1, 0))["lm_curvature"] is None
    assert statistics(Scored(sure, None, sure, 1, 0))["lm_binoculars"] is None
