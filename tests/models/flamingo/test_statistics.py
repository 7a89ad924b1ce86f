from __future__ import annotations

import math

import numpy as np
import pytest

from obelics_pipeline.models.flamingo.statistics import COLUMNS, Scored, statistics, worst_stretch
from obelics_pipeline.models.flamingo.unigram import Unigram


def scored(losses: list[float], without: list[float] | None = None, n_bytes: int = 8, images: int = 0) -> Scored:
    return Scored(
        np.arange(len(losses)),
        np.array(losses, np.float32),
        None if without is None else np.array(without, np.float32),
        n_bytes,
        images,
    )


def test_the_columns_are_those_that_are_named() -> None:
    assert tuple(statistics(scored([1.0], [1.0], images=1), None)) == COLUMNS
    assert tuple(statistics(scored([]), None)) == COLUMNS


def test_the_mean_is_in_nats_per_token_and_the_sum_in_bits_per_byte() -> None:
    found = statistics(scored([1.0, 2.0, 6.0], n_bytes=2), None)
    assert found["flamingo_loss"] == 3.0
    assert found["flamingo_bits_per_byte"] == pytest.approx(9 / math.log(2) / 2)
    assert found["flamingo_tokens"] == 3.0


def test_percentiles_are_those_of_the_tokens() -> None:
    found = statistics(scored([float(i) for i in range(101)]), None)
    assert [found[f"flamingo_loss_p{p}"] for p in (10, 50, 90, 99)] == [10.0, 50.0, 90.0, 99.0]


def test_the_worst_stretch_finds_a_bad_passage_that_the_mean_hides() -> None:
    losses = [1.0] * 936 + [5.0] * 64
    assert statistics(scored(losses), None)["flamingo_loss_worst_stretch"] == pytest.approx(5.0)
    assert worst_stretch(np.array([1.0, 9.0, 2.0]), 2) == 5.5
    assert worst_stretch(np.array([1.0, 2.0]), 64) == 1.5


def test_tokens_are_compared_with_their_own_frequency() -> None:
    unigram = Unigram(np.array([1.0, 1.0, 5.0, 5.0]))
    assert statistics(scored([0.5, 2.0, 4.0, 4.0]), unigram)["flamingo_worse_than_unigram"] == 0.25
    assert statistics(scored([0.5]), None)["flamingo_worse_than_unigram"] is None


def test_the_image_gain_is_what_hiding_the_images_costs() -> None:
    found = statistics(scored([1.0, 2.0], [2.0, 3.5], images=2), None)
    assert found["flamingo_loss_without_images"] == 2.75
    assert found["flamingo_image_gain"] == 1.25
    assert found["images_seen"] == 2.0


def test_where_no_image_was_seen_there_is_no_gain() -> None:
    found = statistics(scored([1.0]), None)
    assert found["flamingo_image_gain"] is None and found["flamingo_loss_without_images"] is None


def test_where_there_is_nothing_to_measure_all_but_the_counts_are_null() -> None:
    found = statistics(scored([], [], images=3), Unigram(np.zeros(2)))
    assert {name for name, value in found.items() if value is not None} == {"flamingo_tokens", "images_seen"}
    assert found["flamingo_tokens"] == 0 and found["images_seen"] == 3.0


@pytest.mark.parametrize("losses", [[1.0, math.nan], [math.inf], [-math.inf, 1.0]])
def test_of_losses_that_are_not_finite_all_but_the_counts_are_nan(losses: list[float]) -> None:
    found = statistics(scored(losses, losses, images=3), Unigram(np.zeros(2)))
    assert found["flamingo_tokens"] == len(losses) and found["images_seen"] == 3.0
    of_losses = {name: value for name, value in found.items() if name not in ("flamingo_tokens", "images_seen")}
    assert all(value is not None and math.isnan(value) for value in of_losses.values()), of_losses


def test_losses_without_images_that_are_not_finite_make_the_gain_nan_and_nothing_else() -> None:
    found = statistics(scored([1.0, 2.0], [1.0, math.inf], images=3), None)
    wrong = {name for name, value in found.items() if value is not None and math.isnan(value)}
    assert wrong == {"flamingo_loss_without_images", "flamingo_image_gain"} and found["flamingo_loss"] == 1.5
