"""The run that a forget is at work in, as its units get to know it: they read everything else from there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.access import reaching
from obelics_pipeline.core.commit import Manifest, read_manifests
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, files_below, names_in
from obelics_pipeline.policy.tombstones.keyed import Keyed, read_key
from obelics_pipeline.policy.tombstones.tombstones import FOLDER, KEY, Tombstones, tombstones_in

LEASE = ".lease"  # in the folder of a run in a store: see core/lease.py
WORK = "steps"  # below the folder of tombstones: what units found, until the forget is done


@dataclass(frozen=True)
class Place:
    """A run, and the folder that tombstones go to: the run's own, or one beside it for a dry run.

    `dedup` says which documents are duplicates, `min_images` how many images a document must keep. `lease` is by what
    the command holds a run in a store; empty on a disk.
    """

    run: RunFolder
    target: Location
    dedup: DedupConfig
    min_images: int
    lease: str = ""

    @property
    def work(self) -> Location:
        """The folder of what units find."""
        return self.target / WORK

    def keyed(self) -> Keyed:
        """The key of the tombstones, which travels with no unit."""
        return read_key(self.target / KEY)

    def tombstones(self) -> Tombstones | None:
        """What is to be removed, as far as it was noted; None where nothing was."""
        return tombstones_in(list(dict.fromkeys([self.target, self.run.path / FOLDER])), self.dedup)

    def refuse_other(self) -> None:
        """Raises Stopped where another command has taken over the run: a unit that writes asks before it begins."""
        if self.lease != lease_of(self.run):
            raise Stopped(f"{self.run.base}: another command has taken over; run this one again when that has ended")

    def known(self) -> Tombstones:
        """The same for a unit, which is made where there are some only."""
        found = self.tombstones()
        assert found is not None, "there are tombstones"
        return found

    def units(self, folder: str, names: list[str]) -> Iterator[Manifest]:
        """Some units of a folder of the run, in the order of their names, those that have files."""
        found = read_manifests(self.run.path / folder, names)
        yield from (manifest for _, manifest in sorted(found.items()) if manifest.files)


def lease_of(run: RunFolder) -> str:
    """By what the command that holds a run in a store does so: the newest lease."""
    return "" if isinstance(run.base, Path) else max(names_in(run.base / LEASE), default="")


def folders_in(folder: Location) -> list[str]:
    """The folders in a folder, sorted; none where it is not there."""
    try:
        return sorted(name for name, is_folder in _listed(folder) if is_folder)
    except FileNotFoundError:
        return []


def names_below(folder: Location, without: Collection[str]) -> list[str]:
    """Every file below a folder, sorted, except in some of its own folders, which may hold more than can be listed."""
    found = list[str]()
    for name, is_folder in _listed(folder):
        if not is_folder:
            found.append(name)
        elif name not in without:
            found += [f"{name}/{below}" for below in files_below(folder / name)]
    return sorted(found)


def _listed(folder: Location) -> list[tuple[str, bool]]:
    """What is in a folder itself, each with whether it is a folder. Raises FileNotFoundError."""
    if isinstance(folder, Path):
        return [(path.name, path.is_dir()) for path in folder.iterdir()]
    with reaching(folder):
        listed = folder.fs.ls(folder.path, detail=True)
    named = [(entry["name"].rstrip("/").rpartition("/")[2], entry["type"] == "directory") for entry in listed]
    return [(name, is_folder) for name, is_folder in named if name]
