"""Runs on a failing disk end as undisturbed ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import slips
from tests.faults.simulator import Simulator, a_cheap_world
from tests.faults.slips import Slip

SEEDS = 24  # for CI; more by hand: python -m tests.faults.simulator --seeds 0 1000
MENDED = (
    50_367,  # a power cut after tars were made again took the index
    60_357,  # the manifest of the current revision was damaged when another one was to take its place
)
FOUND_BY = (
    (slips.notes_of_shuffles_are_believed, 3),
    (slips.hashes_are_not_read, 3),
    (slips.a_run_is_changed_in_place, 0),
    (slips.inputs_are_noted_too_soon, 5),
    (slips.a_log_alone_is_a_strangers, 10),
    (slips.a_damaged_run_is_complete, 142),
    (slips.images_are_believed, 71),
)  # for leases: tests/core/test_lease_simulator.py; `removals_may_come_back` was found by none of some hundred


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    folder = tmp_path_factory.mktemp("world")
    with a_cheap_world(folder) as world:
        yield Simulator(world, folder)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(SEEDS), *MENDED])
def test_a_run_on_a_failing_disk_ends_as_an_undisturbed_one(simulator: Simulator, seed: int) -> None:
    story, wrong = simulator.tell(seed)
    assert not wrong, "\n".join([wrong, *story.lines])


@pytest.mark.slow
@pytest.mark.parametrize(("slip", "seed"), FOUND_BY, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_seed_finds_what_was_once_wrong(simulator: Simulator, slip: Slip, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        slip(patch)
        assert simulator.tell(seed)[1]
    story, wrong = simulator.tell(seed)
    assert not wrong, "\n".join([wrong, *story.lines])


def test_a_disk_that_loses_what_was_not_synced_loses_it(tmp_path: Path) -> None:
    from random import Random

    from tests.faults.failing_disk import Dead, Disk, watched

    disk = Disk(tmp_path / "disk")
    disk.folder.mkdir()
    with watched(disk):
        for number in range(40):
            (disk.folder / f"{number}").write_bytes(b"content")
        disk.fails[disk.counted + 1] = disk.kill
        with pytest.raises(Dead):
            (disk.folder / "never").write_bytes(b"")
        with pytest.raises(Dead):  # a dead process cleans nothing up
            (disk.folder / "0").unlink()
    done = disk.cut_power(Random(1))
    assert {line.split()[0] for line in done} == {"gone", "empty", "cut", "zeros"}
    assert 0 < sum(path.read_bytes() == b"content" for path in disk.folder.iterdir()) < 40


def test_what_was_synced_in_a_folder_stays_when_the_folder_is_renamed(tmp_path: Path) -> None:
    from random import Random

    from obelics_pipeline.core.storage import sync
    from tests.faults.failing_disk import Disk, watched

    disk = Disk(tmp_path / "disk")
    (disk.folder / "draft" / "below").mkdir(parents=True)
    with watched(disk):
        for number in range(20):
            path = disk.folder / "draft" / "below" / f"{number}"
            path.write_bytes(b"content")
            sync(path)
        sync(path.parent)
        (disk.folder / "draft").rename(disk.folder / "made")
    assert disk.cut_power(Random(1)) == []
