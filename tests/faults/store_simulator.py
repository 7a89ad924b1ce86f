"""Whole runs in an object store that fails as a seed says: `python -m tests.faults.store_simulator --seeds 0 100`.

As `tests.faults.simulator`, over the door of S3. A seed draws at which request something happens: the process dies
before it is done, or before it hears that it was; a worker dies; the store refuses it; the answer is lost; the request
comes once more a little later. Requests that are sent at the same time arrive in any order. Whenever the pointer is
moved, the revision that it names must be whole.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from upath import UPath

from obelics_pipeline.core.revision_place import POINTER, place_of
from tests.faults.damaged_run import World
from tests.faults.failing_disk import Disk
from tests.faults.failing_store import Bucket, asked, behind_s3
from tests.faults.runs import published_of
from tests.faults.simulator import Simulator, main

KINDS = ("kill", "kill", "unheard", "unheard", "worker", "refused", "lost", "twice")
BASE = "s3://bucket/run"
ANOTHER_MACHINE = 0.3  # of the commands: what the former one kept on its own disk is not there


class PointerToNothingWhole(BaseException):
    """A reader of the run would find no whole revision."""


class StoreSimulator(Simulator):
    """As its base, in a bucket."""

    kinds = KINDS
    rivals = 0.0  # who of two holds a folder: see `tests.core.lease_simulator`

    def __init__(self, world: World, work: Path) -> None:
        self._scratch, self._open = work / "scratch", ExitStack()
        super().__init__(world, work)

    def _begin(self) -> Disk:
        bucket = Bucket(Path(), changed=self._see)
        self._open.enter_context(behind_s3(bucket))
        bucket.folder = UPath(BASE, use_listings_cache=False)  # type: ignore[assignment]
        self._bucket = bucket
        self._new_scratch()
        return bucket

    def _end(self, disk: Disk) -> None:
        self._open.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _new_scratch(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir()

    def _befall(self, disk: Disk, kind: str) -> Callable[[], None]:
        bucket = self._bucket
        befalls = {"unheard": bucket.die_unheard, "refused": bucket.refuse, "lost": bucket.lose_the_answer}
        return {"worker": bucket.kill_worker, "twice": bucket.repeat}.get(kind, befalls.get(kind, bucket.kill))

    @contextmanager
    def _watched(self, disk: Disk, random: Random) -> Iterator[None]:
        if random.random() < ANOTHER_MACHINE:
            self._new_scratch()
        with asked(self._bucket, random), pytest.MonkeyPatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(self._scratch))
            yield

    def _published(self, folder: Any) -> dict[str, str]:
        return self._published_in(f"{folder.path}/")

    def _published_in(self, root: str) -> dict[str, str]:
        """By the objects themselves: no request is counted."""
        found = {name.removeprefix(root): data for name, data in self._bucket.objects.items() if name.startswith(root)}
        own = published_of(dict.fromkeys(found, ""))
        return {name: hashlib.sha256(found[name]).hexdigest() for name in own}

    def _see(self, name: str) -> None:
        """Look at the revision that a pointer names when it is moved."""
        base = BASE.removeprefix("s3://")
        if name != f"{base}/{POINTER}" or (number := self._bucket.objects.get(name)) is None:
            return
        if self._published_in(f"{place_of(Path(base), int(number))}/") not in self._expected.values():
            raise PointerToNothingWhole(number)


if __name__ == "__main__":
    sys.exit(main(StoreSimulator))
