"""A run that the machine disturbs ends in one line or well, and the same command then makes the same shards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.resume_table import NOT_MOUNTED, ROWS, World, a_world

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(s3: str) -> Iterator[World]:
    with a_world() as found:
        yield found


@pytest.mark.parametrize("name", ROWS)
def test_the_same_command_makes_the_same_shards_after(name: str, world: World, tmp_path: Path) -> None:
    verdict = ROWS[name](world, tmp_path)
    if verdict == NOT_MOUNTED:
        pytest.skip(verdict)
    assert verdict.startswith("same; exit ")
    assert "TRACEBACK" not in verdict
