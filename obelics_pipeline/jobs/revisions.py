"""The revisions of a run, listed, chosen and removed: see `core.revisions` for how they lie."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core import stored_revisions as stored
from obelics_pipeline.core.commit import unit_names
from obelics_pipeline.core.config.run import load_resolved
from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.revision_place import is_result, number_of
from obelics_pipeline.core.revisions import parts_of, revisions_of
from obelics_pipeline.core.shards.manifest import RunManifest, read_manifest, standing_manifest
from obelics_pipeline.core.storage import Location, files_below, local_copy, remove, size_of
from obelics_pipeline.jobs.events import read_events, spans_of, starts_of
from obelics_pipeline.stages.fetch.image_pack import ENDING
from obelics_pipeline.stages.fetch.named_images import blank_unnamed, hashes_named, packs_named
from obelics_pipeline.stages.fetch.reason import KNOWN_ABUSE
from obelics_pipeline.stages.fetch.removed_packs import removed_packs
from obelics_pipeline.stages.stage import Stage

FEW = 0.1  # of the current revision's yield: a new one that keeps less is made current only where a person agrees


@dataclass(frozen=True)
class Revision:
    """One revision of a run. `manifest` is missing where it was begun and is not whole.

    `own_bytes` are those of the files that no other revision shares.
    """

    number: int
    current: bool
    config: str
    manifest: RunManifest | None
    own_bytes: int

    def line(self) -> str:
        """For a person."""
        mark, state = ("*", "current") if self.current else (" ", "kept" if self.manifest else "unfinished")
        counts = self.manifest.counts() if self.manifest else {}
        held = (
            f"{counted(counts['documents'], 'documents')} in {counted(counts['shards'], 'shards')}, " if counts else ""
        )
        only = f"{self.own_bytes / 1e6:,.1f} MB that only it holds"
        return f"{mark} {self.number:>3}  {state:<10}  config {self.config}: {held}{only}"


def revisions(base: Location) -> list[Revision]:
    """Every revision of a run, in the order in which they began. Raises UserError where no run is."""
    if size_of(RunFolder(base).config) is None:
        raise UserError(f"{base}: no run here; give the --output of obelics run")
    known = revisions_of(base)
    folders = {number: RunFolder(base, number) for number in known.numbers()}
    now, names = known.current_number(), Counter[str]()
    files = {number: _files(folder.path) for number, folder in folders.items()}
    for found in files.values():
        names.update(found.keys())
    return [
        Revision(
            number,
            number == now,
            str(folder.noted().get("config", "unknown")),
            read_manifest(folder.path) if folder.is_validated() else None,
            sum(size for file, size in files[number].items() if names[file] == 1),
        )
        for number, folder in folders.items()
    ]


def change(base: Location, used: int | None, kept: int | None, dropped: int | None) -> list[str]:
    """Do what is asked for, nothing where all are None; the revisions that there are then, a line each.

    Raises UserError where no run is, where one is at work, and for a revision that this cannot be done to.
    """
    base = base.absolute() if isinstance(base, Path) else base
    if (used, kept, dropped) != (None, None, None):
        revisions(base)  # raises UserError where no run is, before a lock is written
        with RunFolder(base).locked():
            if used is not None:
                use(base, used)
            if kept is not None:
                keep(base, kept)
            if dropped is not None:
                discard(base, dropped)
            revisions_of(base).gather()
    return [revision.line() for revision in revisions(base)]


def use(base: Location, number: int) -> None:
    """Make a revision the current one. Raises UserError for one that is not whole, or not there."""
    found = _named(base, number)
    if found.manifest is None:
        raise UserError(f"revision {number}: is not finished; run its command again first")
    if not found.current:
        revisions_of(base).point(number)


def keep(base: Location, most: int) -> list[int]:
    """Remove the oldest revisions, and those that are not finished, until `most` are left; the current one stays."""
    found = revisions(base)
    others = [revision for revision in reversed(found) if not revision.current]
    wanted = [revision for revision in others if revision.manifest is not None][: most - 1]
    gone = [revision.number for revision in found if not revision.current and revision not in wanted]
    for number in gone:
        erase(base, number)
    return gone


def discard(base: Location, number: int) -> None:
    """Remove a revision. Raises UserError for the current one, and for one that is not there."""
    if _named(base, number).current:
        raise UserError(f"revision {number}: is the current one; make another one current first (--use)")
    erase(base, number)


def erase(base: Location, number: int) -> None:
    """Remove a revision that is not the current one, with the images that no other one names."""
    revisions_of(base).drop(number)
    clear(base)


def clear(base: Location) -> None:
    """Remove from a store what is left over of revisions that were dropped, or begun and not whole."""
    if isinstance(base, Path):
        return
    known = revisions_of(base)
    if left := stored.left_over(base, known.current()):
        living = list(known.places().values())
        name, images = RunFolder(base).fetch.name, RunFolder(base).images
        fetched, kept = ([root / name for root in roots] for roots in (left, living))
        alone = [name for name in files_below(images) if not name.endswith(ENDING)]
        gone = hashes_named(fetched) - hashes_named(kept) if alone else set()
        remove(images / name for name in alone if name.rpartition("/")[2] in gone)
        blank_unnamed(images, sorted(packs_named(fetched)), kept)
        for root in left:
            stored.clear(root, living)


def _named(base: Location, number: int) -> Revision:
    found = {revision.number: revision for revision in revisions(base)}
    if number not in found:
        raise UserError(f"revision {number}: is not there; there are {', '.join(map(str, found))}")
    return found[number]


def _files(folder: Location) -> dict[str, int]:
    """Bytes of each file of a revision: on a disk by the number of its content, which links share, else by place."""
    if not isinstance(folder, Path):
        return stored.files_of(folder)
    parts = parts_of(folder)
    files = (part / name for part in parts for name in (files_below(part) if part.is_dir() else [""]))
    return {str(state.st_ino): state.st_size for state in map(os.stat, files)}


def plan_of(folder: RunFolder, stages: Sequence[Stage], stage: str, todo: int, units: int) -> list[str]:
    """What a revision with other values would do, a line each; `todo` of the units of a stage are the first of it.

    What later stages must do again is known when these are done: the number of their units is the most that it can be.
    """
    names = [one.name for one in stages]
    later = stages[names.index(stage) + 1 :] if stage in names else ()
    counts = {s.name: len(unit_names(_units_of(s, folder))) for s in later}
    depend = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    manifest = read_manifest(folder.path).counts()
    lines = [
        f"a new revision would begin from revision {revisions_of(folder.base).current_number()}, {_shared(folder)}:",
        f"  {stage}: {todo:,} of {units:,} units are done again",
        *([f"  after it, at most, by units: {depend}"] if depend else []),
        f"  {counted(manifest['shards'], 'shards')} with {manifest['documents']:,} documents stay current until the "
        "new ones have been read back, and are kept then: obelics revisions",
    ]
    if (removed := removed_packs(folder)) is not None:
        lines.append(f"  {removed.plan(manifest['files'])}")
    if seconds := _seconds_of(folder, [one for one in stages if one.name == stage or one in later]):
        lines.append(f"  these stages took {seconds:,.0f} s when they last ran in full")
    return lines


def _shared(folder: RunFolder) -> str:
    """How a revision has what stays the same, and in a store what that costs.

    A tar of a store is copied, because others read it by its name in the folder of its revision.
    """
    if isinstance(folder.path, Path):
        return "by links to its files"
    parts = [part for part in stored.parts(folder.path) if not is_result(part.folder.name)]
    names = [name for part in parts for name, _ in part.units]
    tars = read_manifest(folder.path).counts()
    return (
        f"whose files it names by {counted(len(names), 'new manifests')}; tars that stay the same are copied within "
        f"the store, at most {tars['shards']:,} ({tars['bytes'] / 1e9:,.2f} GB)"
    )


def _units_of(stage: Stage, folder: RunFolder) -> Location:
    return stage.folder(folder.path) if stage.documents else folder.path / stage.name


def _seconds_of(folder: RunFolder, stages: Sequence[Stage]) -> float:
    """How long these stages took, each of their steps in the start in which it took longest."""
    took: dict[str, float] = {}
    for start in starts_of(read_events(folder.events)):
        for step, seconds in spans_of(start):
            took[step] = max(took.get(step, 0.0), seconds)
    return sum(seconds for step, seconds in took.items() if any(stage.owns(step) for stage in stages))


def make_current(folder: RunFolder, agrees: Callable[[str], bool | None], say: Callable[[str], None]) -> None:
    """Make a revision that has been read back the current one.

    One that keeps nothing, or a tenth of the share of documents that the current one keeps, is made current where
    `agrees` says so. Raises UserError otherwise: it stays beside. Where the current one's manifest is gone or damaged,
    there is nothing to compare with.
    """
    base, number = folder.base, number_of(folder.path)
    known = revisions_of(base)
    before = known.current_number()
    old = standing_manifest(known.current())
    if why := old is not None and _suspicious(read_manifest(folder.path), old):
        told = f"revision {number} of {base} {why}"
        if not agrees(f"{told}. Make it the current one?"):
            how = f"obelics revisions {base}"
            raise UserError(f"{told}; revision {before} stays current: {how} --use {number}, or --drop {number}")
    known.point(number)
    forbidden = [n for n in known.numbers() if n != number and _holds_abuse(RunFolder(base, n), folder)]
    for other in forbidden:
        erase(base, other)
        say(f"revision {other} is removed: images of it are on a list of known abuse")
    kept = "" if before in forbidden else f"; revision {before} is kept: obelics revisions {base}"
    say(f"revision {number} is current{kept}")
    known.gather()


def _holds_abuse(other: RunFolder, new: RunFolder) -> bool:
    """Whether a revision may hold an image that the lists of a new one name: such images stay nowhere."""
    ours, theirs = (_known_abuse(folder) for folder in (new, other))
    return ours[0] > 0 and ours != theirs


def _known_abuse(folder: RunFolder) -> tuple[int, Any]:
    """How many images of a revision were on a list of known abuse, and by which lists."""
    if not folder.is_validated():
        return 0, None
    with local_copy(folder.config) as path:
        lists = load_resolved(path).get("image_safety", {}).get("known_abuse")
    images = read_manifest(folder.path).ledgers.get("images")
    return images.dropped[KNOWN_ABUSE] if images else 0, lists


def _suspicious(new: RunManifest, old: RunManifest) -> str:
    ours, theirs = new.counts()["documents"], old.counts()["documents"]
    if not ours and theirs:
        return f"keeps no document, where the current one keeps {theirs:,}"
    if _share(new) < FEW * _share(old):
        return f"keeps {_share(new):.2%} of its documents, where the current one keeps {_share(old):.2%}"
    return ""


def _share(manifest: RunManifest) -> float:
    documents = manifest.ledgers["documents"]
    return documents.kept / max(documents.entered, 1)
