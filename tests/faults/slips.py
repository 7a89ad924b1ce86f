"""What was once wrong in the product, each put back by a patch: the simulator must find it.

`python -m tests.faults.slips --seeds 0 200 [SLIP …]` looks for the first seed that finds each.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core import commit, storage
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.revision_place import MARK
from obelics_pipeline.core.revisions import Revisions
from obelics_pipeline.core.storage import Location, size_of
from obelics_pipeline.jobs import main_job, publish
from obelics_pipeline.jobs.claim import Claim
from obelics_pipeline.stages.extract import value
from obelics_pipeline.stages.fetch import image_pack, run_images
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.read.inputs import Inputs
from obelics_pipeline.stages.read.ranges import ReadTask
from obelics_pipeline.stages.shard import standing
from tests.faults import simulator
from tests.faults.simulator import Simulator, a_cheap_world
from tests.faults.store_simulator import StoreSimulator

Slip = Callable[[pytest.MonkeyPatch], None]


def images_are_believed(patch: pytest.MonkeyPatch) -> None:
    """A pack is named before it is synced, and whatever is at the place of an image is taken for it."""

    def put(path: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)

    patch.setattr(image_pack, "put", put)
    patch.setattr(run_images, "is_at", lambda place, content, _sha256: len(content) == place.length)


def hashes_are_not_read(patch: pytest.MonkeyPatch) -> None:
    """A file of the right name and size is read, whatever is in it."""
    patch.setattr(storage, "stated_hash", lambda _name: None)


def a_damaged_run_is_complete(patch: pytest.MonkeyPatch) -> None:
    """The index and the tars of a finished run are not read again."""
    patch.setattr(publish, "part_is_whole", lambda _folder, _part: True)
    patch.setattr(standing, "_is_whole", lambda _told: True)


def a_run_is_changed_in_place(patch: pytest.MonkeyPatch) -> None:
    """Other values are worked out where the finished run is."""

    def claim(folder: Any, changed: Any, agrees: Any, take: Any, _plan: Any) -> Claim:
        return Claim(folder, changed, agrees, take, None)

    patch.setattr(main_job, "Claim", claim)


def inputs_are_noted_too_soon(patch: pytest.MonkeyPatch) -> None:
    """What is read is noted before what was read of another state of it is gone."""
    forget = value._forget_changed

    def note_and_forget(job: Job, sources: Inputs, tasks: Sequence[ReadTask]) -> None:
        changed = job.folder.changed_inputs(sources.versions)
        job.folder.note_inputs(sources.versions)
        with pytest.MonkeyPatch.context() as noted:
            noted.setattr(RunFolder, "changed_inputs", lambda *_: changed)
            forget(job, sources, tasks)

    patch.setattr(value, "_forget_changed", note_and_forget)


def notes_of_shuffles_are_believed(patch: pytest.MonkeyPatch) -> None:
    """A shuffle is done where its note is, whether or not its pieces are."""
    patch.setattr(commit, "note_of", lambda piece: piece.with_name("another"))


def a_log_alone_is_a_strangers(patch: pytest.MonkeyPatch) -> None:
    """The log of a run that was killed before its folder said whose it is is taken for somebody else's."""
    compare = RunFolder.differing

    def differing(folder: RunFolder, *told: Any) -> list[str]:
        if size_of(folder.path / MARK) is None and folder.events.exists():
            raise UserError(f"--output {folder.base}: is not empty and not the output of a run")
        return compare(folder, *told)

    patch.setattr(RunFolder, "differing", differing)


def removals_may_come_back(patch: pytest.MonkeyPatch) -> None:
    """Manifests of a replaced input are removed, and the removal is not synced before the new state is noted."""

    def remove(locations: Iterable[Any]) -> None:
        for where in locations:
            where.unlink(missing_ok=True)

    patch.setattr(value, "remove", remove)


def a_pointer_is_moved_too_soon(patch: pytest.MonkeyPatch) -> None:
    """A revision is the current one when it begins."""

    begin = Revisions.begin

    def begin_and_point(revisions: Revisions[Any]) -> Location:
        where: Location = begin(revisions)
        revisions.point(int(where.name))
        return where

    patch.setattr(Revisions, "begin", begin_and_point)


def refused_requests_are_bugs(patch: pytest.MonkeyPatch) -> None:
    """A request that a store refuses ends in a traceback."""
    patch.setattr(simulator, "answer_to", lambda _error: None)


SLIPS: tuple[Slip, ...] = (
    images_are_believed,
    hashes_are_not_read,
    a_damaged_run_is_complete,
    a_run_is_changed_in_place,
    inputs_are_noted_too_soon,
    notes_of_shuffles_are_believed,
    a_log_alone_is_a_strangers,
    removals_may_come_back,
)
STORE_SLIPS: tuple[Slip, ...] = (a_pointer_is_moved_too_soon, refused_requests_are_bugs)


def first_seed(told: Simulator, slip: Slip, seeds: Sequence[int]) -> tuple[int, str] | None:
    """The first seed that finds a slip, and what is wrong then."""
    for seed in seeds:
        with pytest.MonkeyPatch.context() as patch:
            slip(patch)
            if wrong := told.tell(seed)[1]:
                return seed, wrong
    return None


def main() -> None:
    """Print the first seed of each slip, in turn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("slips", nargs="*", metavar="SLIP", help=", ".join(map(_name, SLIPS + STORE_SLIPS)))
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 100), metavar=("FIRST", "END"))
    given = parser.parse_args()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder, a_cheap_world(Path(folder)) as world:
        for of, slips in ((Simulator, SLIPS), (StoreSimulator, STORE_SLIPS)):
            if wanted := [slip for slip in slips if not given.slips or _name(slip) in given.slips]:
                told = of(world, Path(folder))
                for slip in wanted:
                    found = first_seed(told, slip, range(*given.seeds))
                    print(_name(slip), *(found or ["no seed"]), flush=True)


def _name(slip: Slip) -> str:
    return slip.__name__


if __name__ == "__main__":
    main()
