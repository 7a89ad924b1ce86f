"""Runs in a failing object store end as undisturbed ones, and the pointer always names a whole revision."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import slips
from tests.faults.failing_store import LATEST, Bucket
from tests.faults.simulator import a_cheap_world
from tests.faults.slips import Slip
from tests.faults.store_simulator import StoreSimulator

SEEDS = 16  # for CI; more by hand: python -m tests.faults.store_simulator --seeds 0 1000
FOUND_BY = ((slips.refused_requests_are_bugs, 3), (slips.a_pointer_is_moved_too_soon, 0))


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreSimulator]:
    folder = tmp_path_factory.mktemp("world")
    with a_cheap_world(folder) as world:
        yield StoreSimulator(world, folder)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_run_in_a_failing_store_ends_as_an_undisturbed_one(simulator: StoreSimulator, seed: int) -> None:
    story, wrong = simulator.tell(seed)
    assert not wrong, "\n".join([wrong, *story.lines])


@pytest.mark.slow
@pytest.mark.parametrize(("slip", "seed"), FOUND_BY, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_seed_finds_what_was_once_wrong(simulator: StoreSimulator, slip: Slip, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        slip(patch)
        assert simulator.tell(seed)[1]
    story, wrong = simulator.tell(seed)
    assert not wrong, "\n".join([wrong, *story.lines])


def test_a_request_that_comes_twice_comes_again_later() -> None:
    bucket = Bucket(Path(), watching=True)
    bucket.fails[1] = bucket.repeat
    bucket.request("put", "a", lambda: bucket.put("a", b"early"))
    bucket.request("remove", "a", lambda: bucket.take("a"))
    assert not bucket.objects
    for _ in range(LATEST):
        bucket.request("list", "", dict)
    assert bucket.objects == {"a": b"early"}
