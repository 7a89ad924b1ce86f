"""Tests of one number over time."""

import json
from math import exp

import numpy as np
import pytest

from obelics_pipeline.train.guard.signals import Drift, Jump, Line, Often, median, spread, theil_sen


def fed(jump: Jump, values: np.ndarray) -> Jump:
    for value in values:
        jump.feed(float(value))
    return jump


def test_median_and_spread_are_those_of_numpy() -> None:
    values = [float(v) for v in np.random.default_rng(1).normal(3, 2, 500)]
    assert median(values) == pytest.approx(np.median(values)) and median(values[:7]) == np.median(values[:7])
    assert spread(values, 0.0) == pytest.approx(2, rel=0.15)
    assert spread([5.0] * 9, 0.01) == 0.01


def test_no_values_have_no_median() -> None:
    with pytest.raises(ValueError, match="no values"):
        median([])


def test_a_slope_is_not_turned_by_outliers() -> None:
    values = 0.5 * np.arange(60.0)
    values[::7] = 1000
    assert theil_sen(np.arange(60.0), values) == pytest.approx(0.5)
    assert theil_sen([1.0], [2.0]) == 0


def test_a_jump_is_measured_in_deviations_of_late() -> None:
    jump = fed(Jump(256, 24, 48, 0.002), np.random.default_rng(2).normal(1.0, 0.1, 300))
    up, down = jump.read(2.0), jump.read(0.0)
    assert up is not None and 7 < up.z < 13 and up.record > 2
    assert down is not None and -13 < down.z < -7


def test_nothing_is_said_before_there_is_something_to_compare_with() -> None:
    assert fed(Jump(256, 24, 48, 0.002), np.ones(40)).read(9.0) is None


def test_a_falling_number_that_stands_still_has_not_jumped() -> None:
    draw = np.random.default_rng(3)
    jump = fed(Jump(256, 24, 48, 0.002), -0.02 * np.arange(200) + 0.005 * draw.normal(size=200))
    still = jump.read(-0.02 * 188)
    assert still is not None and still.z < 5


def test_what_rests_on_few_targets_may_deviate_more() -> None:
    jump = Jump(256, 24, 48, 0.002)
    for value in np.random.default_rng(4).normal(1.0, 0.1, 300):
        jump.feed(float(value), 1000.0)
    thick, thin = jump.read(2.0, 1000.0), jump.read(2.0, 10.0)
    assert thick is not None and thin is not None and thin.z == pytest.approx(thick.z / 10)


def test_a_rise_is_seen_within_fifty_steps_and_flat_noise_is_not() -> None:
    draw = np.random.default_rng(5)
    flat, rising = Drift(16, 160, 80, 0.01), Drift(16, 160, 80, 0.01)
    seen = []
    for step in range(1, 2001):
        noise = 0.1 * float(draw.standard_t(4))
        flat.feed(step, noise)
        rising.feed(step, noise + max(0, step - 1900) * 0.03)
        if step > 120:
            still, up = flat.read(), rising.read()
            assert still is not None and (still.rise < 0.3 or still.record < 1.6)
            if up is not None and up.rise > 0.35 and up.z > 3.5 and up.record > 1.6:
                seen.append(step)
    assert 1900 < seen[0] <= 1950


def test_a_gentle_climb_is_followed_and_a_fall_is_not() -> None:
    climb, fall = Drift(16, 160, 80, 0.01), Drift(16, 160, 80, 0.01)
    for step in range(1, 400):
        climb.feed(step, 0.01 * step)
        fall.feed(step, -0.01 * min(step, 380))
    up, still = climb.read(), fall.read()
    assert up is not None and up.rise == pytest.approx(0, abs=0.05)
    assert still is not None and still.rise <= 0


def test_a_schedule_bends_and_does_not_break() -> None:
    line = Line()
    rates = [1e-3 * s / 50 for s in range(1, 51)] + [1e-3 * exp(-s / 500) for s in range(1, 500)]
    for rate in rates:
        assert not line.broken(rate, 1.0, 0.1)
        line.feed(rate, 1.0)
    assert line.broken(rates[-1] * 2, 1.0, 0.1) and line.broken(rates[-1] / 100, 1.0, 0.1)


def test_an_intervention_explains_a_break_and_so_does_a_return_to_the_line() -> None:
    line = Line(last=[1.0, 1.0], base=[1.0, 1.0])
    assert not line.broken(0.75, 0.75, 0.1)  # recorded
    assert not line.broken(1.0, 0.5, 0.1)  # a base that was wrong, and a factor that makes up for it
    assert line.broken(0.75, 1.0, 0.1)


def test_a_share_that_changes_is_seen() -> None:
    often = Often(100)
    for step in range(2000):
        often.feed(step % 10 == 0)
    assert abs(often.read()) < 0.1
    for _ in range(150):
        often.feed(True)
    assert often.read() > 0.5


def test_signals_go_through_json_as_they_are() -> None:
    draw = np.random.default_rng(6)
    jump, drift = Jump(256, 24, 48, 0.002), Drift(16, 160, 80, 0.01)
    other, other_drift = Jump(256, 24, 48, 0.002), Drift(16, 160, 80, 0.01)
    for step in range(1, 500):
        if step == 333:
            other.load(json.loads(json.dumps(jump.state())))
            other_drift.load(json.loads(json.dumps(drift.state())))
        value = float(draw.normal())
        for j in (jump, other) if step >= 333 else (jump,):
            j.feed(value)
        for d in (drift, other_drift) if step >= 333 else (drift,):
            d.feed(step, value)
    assert jump.read(3.0) == other.read(3.0) and drift.read() == other_drift.read()
