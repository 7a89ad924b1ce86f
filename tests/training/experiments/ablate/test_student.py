"""Intervals by Student's t: against tables, and by how often they hold the truth."""

import random

import pytest

from obelics_pipeline.training.experiments.ablate.student import cumulative, interval, paired, quantile


@pytest.mark.parametrize(
    ("share", "freedom", "t"),
    [(0.975, 1, 12.7062), (0.975, 2, 4.3027), (0.975, 9, 2.2622), (0.8, 2, 1.0607), (0.95, 30, 1.6973)],
)
def test_quantiles_are_those_of_the_tables(share: float, freedom: int, t: float) -> None:
    assert quantile(share, freedom) == pytest.approx(t, abs=6e-5)
    assert cumulative(t, freedom) == pytest.approx(share, abs=1e-5)
    assert cumulative(-t, freedom) == pytest.approx(1 - share, abs=1e-5)


def test_intervals_hold_the_mean_as_often_as_they_say() -> None:
    chance = random.Random(3)
    held = 0
    for _ in range(4000):
        found = interval([chance.gauss(5, 2) for _ in range(3)], 0.9)
        assert found.low is not None and found.high is not None
        held += found.low <= 5 <= found.high
    assert held / 4000 == pytest.approx(0.9, abs=0.015)


def test_one_value_has_no_interval() -> None:
    assert interval([2.0], 0.95).low is None
    found = paired([2.0], 0.95, 0.8)
    assert (found.least, found.shown) == (None, False)


def test_the_least_difference_is_found_as_often_as_its_power_says() -> None:
    chance = random.Random(5)
    least = paired([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 0.95, 0.8)
    assert least.least is not None and least.deviation is not None
    true = least.least / least.deviation  # in deviations
    found = sum(paired([chance.gauss(true, 1) for _ in range(8)], 0.95, 0.8).shown for _ in range(3000))
    assert found / 3000 == pytest.approx(0.8, abs=0.04)


def test_no_difference_is_shown_as_rarely_as_the_confidence_says() -> None:
    chance = random.Random(7)
    wrong = sum(paired([chance.gauss(0, 1) for _ in range(4)], 0.95, 0.8).shown for _ in range(4000))
    assert wrong / 4000 == pytest.approx(0.05, abs=0.012)
