"""Tests of one number over time."""

import json
from math import nan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from obelics_pipeline.training.train.guard.signals import Drift, Jump, Often, Rate, median, robust_deviation, theil_sen
from obelics_pipeline.training.train.state.entries import LearningRate
from obelics_pipeline.training.train.state.ledger import Holding
from obelics_pipeline.training.train.state.schedule import ScheduleSection, lr


def fed(jump: Jump, values: np.ndarray) -> Jump:
    for value in values:
        jump.feed(float(value))
    return jump


def test_median_and_spread_are_those_of_numpy() -> None:
    values = [float(v) for v in np.random.default_rng(1).normal(3, 2, 500)]
    assert median(values) == pytest.approx(np.median(values)) and median(values[:7]) == np.median(values[:7])
    assert robust_deviation(values, 0.0) == pytest.approx(2, rel=0.15)
    assert robust_deviation([5.0] * 9, 0.01) == 0.01


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


SCHEDULES = st.builds(
    ScheduleSection,
    peak=st.floats(1e-6, 1e-1),
    warmup_steps=st.integers(0, 40),
    steps=st.integers(41, 200),
    shape=st.sampled_from(("cosine", "linear", "constant", "inverse_sqrt")),
    min_ratio=st.floats(0, 1),
)


@given(SCHEDULES, st.lists(st.tuples(st.integers(1, 60), st.floats(0.1, 1.0)), max_size=3))
def test_no_legal_schedule_is_called_wrong_however_short(
    schedule: ScheduleSection, factors: list[tuple[int, float]]
) -> None:
    rate = Rate()
    changes = [Holding(LearningRate(number=1, attempt=1, step=0, at=at, factor=f), at) for at, f in factors]
    for step in range(1, 61):
        scheduled, expected = lr(step, schedule), lr(step, schedule, changes)
        factor = expected / scheduled if scheduled else 1.0
        assert rate.right(step, expected, expected, lr(step - 1, schedule) if step > 1 else nan, 1e-6) is None
        rate.feed(step, expected / factor)


@given(SCHEDULES.filter(lambda s: s.warmup_steps > 2), st.integers(2, 200))
def test_a_schedule_that_begins_anew_is_seen_at_once(schedule: ScheduleSection, step: int) -> None:
    rate = Rate([step - 1.0, lr(step - 1, schedule)])
    scheduled = lr(1, schedule)
    assume(abs(lr(step - 1, schedule) - scheduled) > 1e-5 * schedule.peak)
    # the loop's own count of steps may go on, or begin anew with the schedule
    assert rate.right(step, scheduled, scheduled, scheduled, 1e-6) == pytest.approx(lr(step - 1, schedule))


def test_an_optimiser_with_a_rate_of_its_own_is_seen() -> None:
    assert Rate().right(7, 2e-3, 1e-3, nan, 1e-6) == 1e-3
    assert Rate().right(7, nan, 1e-3, nan, 1e-6) == 1e-3
    assert Rate().right(7, 0.0, 1e-3, nan, 1e-6) == 1e-3
    assert Rate().right(7, 0.0, 0.0, nan, 1e-6) is None


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
