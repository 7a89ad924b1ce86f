"""The steps of a forget: each is units that run by any engine, and what they commit is kept until the forget is done.

So a forget that was killed goes on behind the last unit. The driver sees counts, and sets of what is forgotten.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.access import access_lost
from obelics_pipeline.core.commit import Attempt, Manifest, once, read_manifests
from obelics_pipeline.core.errors import DISK_FULL, Damaged, Stopped, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, is_local
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.attempts import disk_full
from obelics_pipeline.engines.engine import Engine, Failure
from obelics_pipeline.forget.place import Place
from obelics_pipeline.forget.values import ENDING, IDS, Values, read_values

AT_ONCE = 8  # units of the run in one of a forget: most have nothing to forget, and are read in milliseconds


class Work(Protocol):
    """What does a unit: reads the run, and commits in the folder of the step."""

    def __call__(self, unit: Unit, *, place: Place, folder: Location) -> Manifest:
        """Do one unit."""


class Steps:
    """Runs the steps of one forget."""

    def __init__(self, engine: Engine, place: Place) -> None:
        self.engine, self.place = engine, place

    def do(self, step: str, work: Work, units: Sequence[Unit]) -> list[Manifest]:
        """All units of a step; those that an earlier attempt committed are not done again.

        Raises Damaged where some could not read what the run wrote, and Stopped where some failed for another reason.
        """
        folder = self.place.work / step
        done = read_manifests(folder, [unit.name for unit in units])
        todo = [unit for unit in units if unit.name not in done]
        do = partial(once, work=partial(_do, work=work, place=self.place, folder=folder), folder=folder)
        damaged, failed = set[str](), list[str]()
        for unit, outcome in self.engine.map_units(do, todo) if todo else ():
            if isinstance(outcome, Manifest):
                done[unit.name] = outcome
            elif outcome.damaged:
                damaged.update(outcome.damaged)
            else:
                failed.append(_told(step, unit, outcome))
        if damaged:
            raise Damaged(*sorted(damaged))
        if failed:
            more = f" ({len(failed) - 1:,} more like it)" if len(failed) > 1 else ""
            raise Stopped(f"{failed[0]}{more}; the same command goes on")
        return [done[unit.name] for unit in units]

    def files(self, step: str, manifests: Iterable[Manifest], role: str) -> list[Location]:
        """The files of a role that the units of a step committed, in their order."""
        folder = self.place.work / step
        return [m.path(folder, role) for m in manifests if role in m.files]

    def values(self, step: str, manifests: Iterable[Manifest], role: str) -> Values:
        """The set of what the units of a step found."""
        found = [np.asarray(read_values(place)) for place in self.files(step, manifests, role)]
        read_values.cache_clear()  # each was asked once, and holds a file open
        return np.unique(np.concatenate(found)) if found else np.empty(0, IDS)


def _told(step: str, unit: Unit, failure: Failure) -> str:
    return f"forget: {step}: {unit.name} failed: {failure.reason}"


def _do(unit: Unit, *, work: Work, place: Place, folder: Location) -> Manifest:
    with errors_in_one_line(place.run):
        place.refuse_other()
        return work(unit, place=place, folder=folder)


def batches(step: str, names: Sequence[str], size: int = AT_ONCE, /, **payload: Any) -> list[Unit]:
    """Units of a step that each look at some names."""
    parts = [list(names[start : start + size]) for start in range(0, len(names), size)]
    return [
        Unit(step, digest(step, part, payload), f"{number:07d}", {"names": part, **payload})
        for number, part in enumerate(parts)
    ]


def found(unit: Unit, folder: Location, sets: Mapping[str, Values], rows: pa.Table | None = None) -> Manifest:
    """Commit what a unit found: sets by their role, those that are empty left out, and rows as the role `rows`."""
    with Attempt(folder, unit) as attempt:
        for role, values in sets.items():
            if values.size:
                np.save(attempt.file(role, ENDING), np.unique(values), allow_pickle=False)
        if rows is not None:
            pq.write_table(rows, attempt.file("rows", ".parquet"), compression="zstd")
        return attempt.commit([])


def united(pieces: Sequence[Values]) -> Values:
    """The set of the values of many pieces."""
    return np.unique(np.concatenate(pieces)) if pieces else np.empty(0, IDS)


@contextmanager
def errors_in_one_line(run: RunFolder) -> Iterator[None]:
    """Turn a full disk, a read-only folder or lost credentials into Stopped or UserError."""
    try:
        yield
    except OSError as error:
        if error.errno in (*DISK_FULL, errno.EFBIG):
            raise Stopped(disk_full(error)) from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise UserError(f"{error.filename}: {error.strerror}; make it writable") from None
        if (why := access_lost(error)) is not None and not is_local(run.path):
            raise Stopped(
                f"{run.path}: no access ({why}); see the credentials; then go on by the same command"
            ) from None
        raise
