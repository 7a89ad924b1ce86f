"""On a late store no two processes hold a folder, and no put of a former holder stands over that of a later one."""

import pytest

from tests.core.faulty_leases import (
    CheckedBeforeTheVersion,
    CountedFromTheAnswer,
    Earlier,
    RenewedOnceItIsOver,
    RenewedWithoutCondition,
    StaleTooSoon,
    TheSameAgain,
    WatchedByTheRenewer,
    WrittenWithoutCondition,
)
from tests.core.lease_simulator import Fenced, failing, told

TWO = "two holders"
LATE = "a put of"

FAULTS: list[tuple[type[Fenced], int, str]] = [
    (Earlier, 11, TWO),
    (Earlier, 20, LATE),
    (CountedFromTheAnswer, 944, TWO),
    (CountedFromTheAnswer, 336, LATE),
    (WatchedByTheRenewer, 51, TWO),
    (WatchedByTheRenewer, 25, LATE),
    (RenewedWithoutCondition, 3666, TWO),
    (RenewedOnceItIsOver, 123, TWO),
    (TheSameAgain, 4655, TWO),
    (StaleTooSoon, 71, TWO),
    (WrittenWithoutCondition, 40, LATE),
    (CheckedBeforeTheVersion, 176, LATE),
]


@pytest.mark.parametrize(("steps", "seed", "wrong"), FAULTS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_each_fault_is_found_by_its_seed_and_is_mended(steps: type[Fenced], seed: int, wrong: str) -> None:
    story, found = told(seed, steps())
    assert found.startswith(wrong), story
    assert told(seed)[1] == ""


def test_a_seed_tells_the_same_story_again() -> None:
    assert told(944) == told(944)


def test_a_hundred_stories_end_well() -> None:
    assert failing(range(100)) == {}


@pytest.mark.slow
def test_thousands_of_stories_end_well() -> None:
    assert failing(range(100, 5000)) == {}
