"""The revisions of a run: what is current stays whole while another config makes the next one beside it. On a disk:

    DIR/revisions/1/ …   each is a whole run folder; files that two revisions share are hard links to one content
    DIR/current          a symbolic link to one of them, moved by one rename
    DIR/shards, …        symbolic links through it: the names that readers know mean the current revision

A run with one revision only lies in DIR itself. How they lie in an object store: see `stored_revisions`.
"""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar, overload

from upath import UPath

from obelics_pipeline.core import stored_revisions as stored
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.revision_place import FIRST, FOLDER, MARK, POINTER, TAKEN, is_place, is_result, place_of
from obelics_pipeline.core.storage import TEMPORARY, Location, read_bytes, remove, remove_tree, sync, write_bytes

Place = TypeVar("Place", Path, UPath)


class Revisions(ABC, Generic[Place]):
    """The revisions of the run in a folder, `base`."""

    def __init__(self, base: Place) -> None:
        self.base: Place = base

    @abstractmethod
    def current(self) -> Place:
        """Where the current revision lies; `base` itself where there is only one."""

    def current_number(self) -> int:
        """The number of the current revision."""
        where = self.current()
        return FIRST if where == self.base else int(where.name)

    def numbers(self) -> list[int]:
        """The numbers of all revisions, whole or not, in the order in which they began."""
        return sorted(self._found() | {self.current_number()})

    @abstractmethod
    def _found(self) -> set[int]:
        """The numbers of those that lie in folders of their own, and of others."""

    @abstractmethod
    def place(self, number: int) -> Place:
        """Where a revision lies."""

    def places(self) -> dict[int, Place]:
        """Where all of them lie, by number."""
        return {number: self.place(number) for number in self.numbers()}

    def begin(self) -> Place:
        """Begin the next revision with all units, images and notes of the current one, shared; returns its folder.

        What a kill interrupts is no revision: the folder gets its name, or its mark, when all is in it.
        """
        return self._share(max(self.numbers()) + 1)

    @abstractmethod
    def _share(self, number: int) -> Place:
        """Begin revision `number` from the current one."""

    @abstractmethod
    def point(self, number: int) -> None:
        """Make a revision the current one, for all readers at once."""

    @abstractmethod
    def lead_names(self) -> None:
        """Make the names in `base` mean the current revision, where a kill came between."""

    @abstractmethod
    def drop(self, number: int) -> None:
        """Remove a revision that is not the current one. Files that others share stay with them."""

    def gather(self) -> None:
        """Let a revision that is the only one lie in `base` itself again."""
        if self.numbers() == [self.current_number()]:
            self._bring_home()

    @abstractmethod
    def _bring_home(self) -> None:
        """Let the current revision, the only one, lie in `base`."""


@overload
def revisions_of(base: Path) -> Revisions[Path]: ...
@overload
def revisions_of(base: UPath) -> Revisions[UPath]: ...
@overload
def revisions_of(base: Location) -> Revisions[Path] | Revisions[UPath]: ...
def revisions_of(base: Location) -> Revisions[Path] | Revisions[UPath]:
    """The revisions of the run in a folder, which may be that of one of them."""
    return OnDisk(base) if isinstance(base, Path) else InStore(base)


class OnDisk(Revisions[Path]):
    """Folders, and links to what they share."""

    def current(self) -> Path:
        """As above. Raises UserError for a copy of a run in a store, whose names mean another revision."""
        pointer = self.base / POINTER
        try:
            return self.base / os.readlink(pointer)
        except OSError:  # none is there, or a copy that followed links has made a folder of it
            if pointer.is_file() and (self.base / FOLDER).is_dir():  # only in a store manifests are found by it
                raise UserError(
                    f"{self.base}: is a copy of a run in an object store that has several revisions; there, let it "
                    "have one (obelics revisions URL --keep 1), then copy it again"
                ) from None
            return self.base

    def _found(self) -> set[int]:
        folder = self.base / FOLDER
        return {int(path.name) for path in folder.iterdir() if path.name.isdigit()} if folder.is_dir() else set()

    def place(self, number: int) -> Path:
        """The folder itself, or one below `revisions`."""
        alone = number == FIRST and self.current() == self.base
        return self.base if alone else self.base / FOLDER / str(number)

    def _share(self, number: int) -> Path:
        linked = self.base / FOLDER / str(number)
        draft = _linked([path for path in parts_of(self.current()) if not is_result(path.name)], linked)
        draft.rename(linked)
        sync(linked.parent)
        return linked

    def point(self, number: int) -> None:
        """Move the link by one rename, once the names lead through it."""
        if self.current() == self.base:
            self._archive()
        self.lead_names()
        for path in parts_of(self.base / FOLDER / str(number)):
            _lead(self.base, path.name)
        self._move_pointer(number)
        for path in self.base.iterdir():
            if path.is_symlink() and path.readlink().parts[0] == POINTER and not path.exists():
                path.unlink()  # only the former revision has it
        sync(self.base)

    def lead_names(self) -> None:
        """Make the names links through the pointer."""
        if (where := self.current()) != self.base:
            for path in parts_of(where):
                _lead(self.base, path.name)

    def drop(self, number: int) -> None:
        """Take its name away, then its files."""
        where = self.base / FOLDER / str(number)
        gone = where.with_name(f"{TEMPORARY}{number}")
        where.rename(gone)  # at once: no half of it is taken for a revision
        shutil.rmtree(gone)

    def _bring_home(self) -> None:
        if (where := self.current()) != self.base:
            self.lead_names()
            for path in parts_of(where):
                draft = self.base / f"{TEMPORARY}{path.name}"
                _link(path, draft)
                (self.base / path.name).unlink()
                draft.rename(self.base / path.name)
            sync(self.base)
            (self.base / POINTER).unlink()
            sync(self.base)
        if (self.base / FOLDER).exists():
            shutil.rmtree(self.base / FOLDER)

    def _archive(self) -> None:
        """Let what lies in `base` be the first revision, in a folder of its own, and the current one."""
        first = self.base / FOLDER / str(FIRST)
        draft = _linked(parts_of(self.base), first)
        shutil.rmtree(first, ignore_errors=True)  # of an archive that a kill stopped before the pointer was there
        draft.rename(first)
        sync(first.parent)
        shutil.rmtree(self.base / POINTER, ignore_errors=True)  # where a copy followed the link
        self._move_pointer(FIRST)

    def _move_pointer(self, number: int) -> None:
        _symlink(self.base / POINTER, Path(FOLDER, str(number)))
        sync(self.base)


class InStore(Revisions[UPath]):
    """Prefixes, and manifests that name the files of others."""

    def current(self) -> UPath:
        """As above. Raises UserError for a pointer that names none, and what `read_bytes` does where one is there."""
        if is_place(self.base):
            return self.base
        try:
            return place_of(self.base, int(read_bytes(self.base / POINTER)))
        except FileNotFoundError:
            return self.base
        except ValueError:
            raise UserError(
                f"{self.base / POINTER}: is damaged (it must hold the number of a revision); put the number there of "
                f"one that has a {MARK} in {self.base / FOLDER}, or {FIRST}"
            ) from None

    def _found(self) -> set[int]:
        return stored.numbers(self.base)

    def place(self, number: int) -> UPath:
        """The prefix itself, or one below `revisions`."""
        return place_of(self.base, number)

    def _share(self, number: int) -> UPath:
        target = self.place(number)
        stored.share(self.current(), target)
        return target

    def point(self, number: int) -> None:
        """Put the number by one conditional put."""
        write_bytes(self.base / POINTER, f"{number}\n".encode())

    def lead_names(self) -> None:
        """A store has no links: readers look at the pointer."""

    def drop(self, number: int) -> None:
        """As above; its files are left over: see `stored_revisions.clear`."""
        remove([self.place(number) / MARK])  # at once: what is left of it is no revision

    def _bring_home(self) -> None:
        if (where := self.current()) != self.base:
            stored.gather(where, self.base)
            remove([self.base / POINTER])
            remove([where / MARK])
            remove_tree(self.base / FOLDER)


def parts_of(folder: Path) -> Iterator[Path]:
    """What is in a folder and belongs to its revision."""
    for path in sorted(folder.iterdir()):
        if path.name in TAKEN or is_result(path.name) or (path / "manifests").is_dir():
            yield path


def _linked(paths: Iterable[Path], target: Path) -> Path:
    """A folder with second names for these, beside the one that it will be."""
    draft = target.with_name(f"{TEMPORARY}{target.name}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    for path in paths:
        _link(path, draft / path.name)
    sync(draft)
    return draft


def _link(path: Path, target: Path) -> None:
    """A second name for a file, or for every file below a folder. Drafts of writers that were killed are left out.

    The new names are brought to the disk: the first ones may be removed next.
    """
    if not path.is_dir():
        os.link(path, target)
        return
    made: list[Path] = []
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".")]
        there = target / Path(folder).relative_to(path)
        there.mkdir()
        for name in names:
            if not name.startswith("."):
                os.link(Path(folder, name), there / name)
        made.append(there)
    for there in reversed(made):  # a folder after those in it: their names are in it, too
        sync(there)


def _lead(base: Path, name: str) -> None:
    """Make a name in `base` a link through the pointer, in the place of what has the same content."""
    path = base / name
    if path.is_symlink():
        return
    if path.is_dir():  # only a file can be replaced in one step
        aside = base / f"{TEMPORARY}{name}-aside"
        path.rename(aside)
        _symlink(path, Path(POINTER, name))
        shutil.rmtree(aside)
    else:
        _symlink(path, Path(POINTER, name))


def _symlink(path: Path, to: Path) -> None:
    """Make a symbolic link, in the place of the file or link that is there, in one step."""
    draft = path.with_name(f"{TEMPORARY}{path.name}")
    draft.unlink(missing_ok=True)
    draft.symlink_to(to)
    draft.rename(path)
