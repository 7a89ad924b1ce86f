"""A run that is disturbed ends in one line or well, and the command then makes the same shards, wherever it goes on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.disturbed_run import World, a_world
from tests.faults.resume_table import NOT_MOUNTED, ROWS, judged

pytestmark = pytest.mark.slow
SLOW = ("Ray", "Beam")  # they take a minute to start; tests/faults/test_ray_kills.py is in CI


@pytest.fixture(scope="module")
def world(s3: str) -> Iterator[World]:
    with a_world() as found:
        yield found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.by_hand] if any(slow in name for slow in SLOW) else []) for name in ROWS],
)
def test_the_same_command_makes_the_same_shards_after(name: str, world: World, tmp_path: Path) -> None:
    verdict = judged(name, world, tmp_path)
    if verdict == NOT_MOUNTED:
        pytest.skip(verdict)
    assert verdict.startswith("same; exit ")
    assert "TRACEBACK" not in verdict
