"""`obelics validate --deep` and `--repair`: a run's shards, and every other file of it, finished or not."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.index_name import is_shard_table
from obelics_pipeline.core.revision_place import MARK
from obelics_pipeline.core.storage import Location, size_of
from obelics_pipeline.jobs.damage import Survey, survey
from obelics_pipeline.jobs.mending import set_aside
from obelics_pipeline.stages.shard.validate import Report, validate

AT_ONCE = 8  # files that are read at a time: hashing lets other threads run, and a store answers after a while
UNFINISHED = "the run is not finished: run the same command again to continue"


@dataclass(frozen=True)
class DeepReport:
    """What was found. Without `shards` where the run is not finished, and where damaged files were set aside."""

    files: Survey
    shards: Report | None
    done: Sequence[str] = ()  # to the damaged files, a line each

    @property
    def exit_code(self) -> int:
        """0 where nothing is wrong, else 1."""
        return 1 if self.files.damaged or (self.shards is not None and self.shards.exit_code) else 0

    def lines(self) -> list[str]:
        """For a person: what the shards are, the damaged files, and what was done to these."""
        return [*([] if self.shards is None else self.shards.lines()), *self.files.lines(), *self.done]


def deep(path: Location) -> DeepReport:
    """Read every file of a run. Raises UserError for a folder that is no run's."""
    folder = _folder(path)
    return _report(folder, _survey(folder))


def repair(path: Location) -> DeepReport:
    """Read every file of a run and set damaged ones aside; the run's command then writes them again.

    Raises UserError for a folder that is no run's, or in which a run is at work.
    """
    folder = _folder(path)
    with folder.locked():
        found = _survey(folder)
        return DeepReport(found, None, _set_aside(folder, found)) if found.damaged else _report(folder, found)


def _report(folder: RunFolder, found: Survey) -> DeepReport:
    if size_of(folder.manifest) is None:
        return DeepReport(found, None, [UNFINISHED])
    listed = not any(name == folder.manifest.name or is_shard_table(name) for name in found.damaged)
    return DeepReport(found, validate(folder.path) if listed else None)


def _folder(path: Location) -> RunFolder:
    folder = RunFolder(path)
    if size_of(path / MARK) is None and size_of(folder.config) is None:
        raise UserError(f"{path}: no run here ({MARK} is missing); give the --output of obelics run")
    return folder


def _survey(folder: RunFolder) -> Survey:
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return survey(folder, threads.map)


def _set_aside(folder: RunFolder, found: Survey) -> list[str]:
    kept = (MARK, folder.inputs.name, folder.images_removed.name)  # nothing else knows what they hold
    given = [name for name in kept if name in found.damaged]
    images = f"{folder.images.name}/"
    others = sorted(found.damaged.keys() - set(given), key=lambda name: (name.startswith(images), name))
    for name in others:  # images last: which units to fetch again is read in the files of units that are whole
        set_aside(name, folder)
    lines = [f"{name}: left as it is; the command of the run says what to do" for name in given]
    if others:
        lines.append(f"set {counted(len(others), 'files')} aside; run the same command again to write them again")
    return lines
