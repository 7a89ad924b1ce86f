"""A task does as many units of its block as it has time for, and one at least."""

import pickle
from pathlib import Path

import pytest

from obelics_pipeline.engines.on_ray.child_process import ChildProcess, run_block
from obelics_pipeline.engines.pool import Raised
from tests.engines.work import double


@pytest.fixture
def guard(tmp_path: Path) -> ChildProcess:
    (tmp_path / "mark").touch()
    return ChildProcess(tmp_path, "mark", 60.0, ())


@pytest.mark.parametrize(("seconds", "done"), [(60.0, [2, 4, 6]), (0.0, [2])])
def test_a_task_begins_units_until_its_time_is_over(guard: ChildProcess, seconds: float, done: list[int]) -> None:
    assert run_block(guard, pickle.dumps(double), [pickle.dumps(n) for n in (1, 2, 3)], seconds) == done


def test_a_unit_that_raises_costs_its_block_nothing(guard: ChildProcess) -> None:
    first, second = run_block(guard, pickle.dumps(double), [pickle.dumps(None), pickle.dumps(4)], 60.0)
    assert isinstance(first, Raised)
    assert isinstance(first.error, TypeError)
    assert second == 8
