from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.entries import LearningRate
from obelics_pipeline.training.train.state.ledger import Holding, Ledger, holdings
from obelics_pipeline.training.train.state.schedule import ScheduleSection, clip, lr, ratio, weight_decay

SHAPES = ("cosine", "linear", "constant", "inverse_sqrt")
SCHEDULES = st.builds(
    ScheduleSection,
    peak=st.floats(1e-6, 1e-1),
    warmup_steps=st.integers(0, 99),
    steps=st.integers(100, 5000),
    shape=st.sampled_from(SHAPES),
    min_ratio=st.floats(0, 1),
)


def holding(number: int, at: int, factor: float, until: int | None = None) -> Holding:
    return Holding(LearningRate(number=number, attempt=1, step=0, at=at, factor=factor), at, until)


HOLDINGS = st.lists(st.builds(holding, st.just(1), st.integers(1, 6000), st.floats(0.1, 1)), max_size=5)


@given(SCHEDULES, st.integers(1, 6000), HOLDINGS)
def test_the_rate_is_positive_and_never_above_the_peak(schedule: ScheduleSection, step: int, changes: list) -> None:
    assert 0 <= ratio(step, schedule) <= 1
    assert 0 <= lr(step, schedule, changes) <= schedule.peak


@given(SCHEDULES, st.integers(1, 6000))
def test_it_rises_in_the_warm_up_and_never_after(schedule: ScheduleSection, step: int) -> None:
    now, then = ratio(step, schedule), ratio(step + 1, schedule)
    assert then >= now if step < schedule.warmup_steps else then <= now + 1e-12


@given(SCHEDULES, st.integers(5000, 9000))
def test_it_ends_at_the_lowest_ratio(schedule: ScheduleSection, step: int) -> None:
    if schedule.shape in ("cosine", "linear"):
        assert ratio(step, schedule) == pytest.approx(schedule.min_ratio)
    assert ratio(step, schedule) >= schedule.min_ratio - 1e-12


@given(SCHEDULES, HOLDINGS, st.lists(st.integers(1, 6000), max_size=8))
def test_a_restart_anywhere_gives_the_same_curve(schedule: ScheduleSection, changes: list, stops: list[int]) -> None:
    """Whatever was computed before, and from which fresh copy of schedule and ledger: a step has its rate."""
    undisturbed = [lr(step, schedule, changes) for step in range(1, 6000, 97)]
    for stop in stops:
        lr(stop, schedule, changes)
    again = ScheduleSection.model_validate_json(schedule.model_dump_json())
    assert [lr(step, again, tuple(changes)) for step in range(1, 6000, 97)] == undisturbed


@given(SCHEDULES, HOLDINGS, st.integers(1, 6000))
def test_the_rate_is_the_schedules_times_the_factors_in_force(
    schedule: ScheduleSection, changes: list, step: int
) -> None:
    expected = schedule.peak * ratio(step, schedule)
    for change in changes:
        expected *= change.entry.factor if change.at <= step else 1
    assert lr(step, schedule, changes) == pytest.approx(expected)


def test_known_values() -> None:
    schedule = ScheduleSection(peak=1.0, warmup_steps=10, steps=110, min_ratio=0.1, shape="cosine")
    assert [round(lr(step, schedule), 4) for step in (1, 5, 10, 60, 110, 999)] == [0.1, 0.5, 1.0, 0.55, 0.1, 0.1]
    line = schedule.model_copy(update={"shape": "linear"})
    assert [round(lr(step, line), 4) for step in (10, 35, 110)] == [1.0, 0.775, 0.1]
    root = schedule.model_copy(update={"shape": "inverse_sqrt"})
    assert [round(lr(step, root), 4) for step in (10, 40, 4000)] == [1.0, 0.5, 0.1]


def test_an_undone_change_leaves_what_was_before_as_it_was(tmp_path: Path) -> None:
    schedule = ScheduleSection(peak=1.0, warmup_steps=0, shape="constant")
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("start", attempt=1, step=0)
    ledger.append("lr", attempt=1, step=10, factor=0.5, at=11)
    ledger.append("lr", attempt=1, step=20, factor=0.5, at=21)
    ledger.append("undo", attempt=1, step=30, of=2)
    changes = holdings(ledger.entries)
    assert [lr(step, schedule, changes) for step in (10, 11, 21, 30, 31)] == [1.0, 0.5, 0.25, 0.25, 0.5]


def test_weight_decay_and_clip_take_the_last_value_that_holds(tmp_path: Path) -> None:
    schedule = ScheduleSection(warmup_steps=0, weight_decay=0.1)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("start", attempt=1, step=0)
    ledger.append("weight_decay", attempt=1, step=10, value=0.05, at=11)
    ledger.append("clip", attempt=1, step=10, value=0.3, at=12)
    ledger.append("clip", attempt=1, step=20, value=None, at=21)
    changes = holdings(ledger.entries)
    assert [weight_decay(step, schedule.of(100), changes) for step in (10, 11)] == [0.1, 0.05]
    assert [clip(step, 1.0, changes) for step in (11, 12, 21)] == [1.0, 0.3, None]


@pytest.mark.parametrize(("follows", "expected"), [("nothing", 0.1), ("lr", 0.05), ("lr_squared", 0.025)])
def test_weight_decay_can_follow_the_rate(follows: str, expected: float) -> None:
    schedule = ScheduleSection(warmup_steps=10, shape="constant", weight_decay=0.1, weight_decay_follows=follows)
    assert weight_decay(5, schedule) == pytest.approx(expected)


def test_a_warm_up_longer_than_the_run_is_refused() -> None:
    with pytest.raises(ValidationError, match="must be fewer than steps, 50"):
        ScheduleSection(warmup_steps=50, steps=50)
    with pytest.raises(UserError, match="the plan has 40 steps"):
        ScheduleSection(warmup_steps=50).of(40)
    assert ScheduleSection(warmup_steps=50, shape="constant").of(40).steps == 40
