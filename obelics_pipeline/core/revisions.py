"""The revisions of a run: what is current stays whole while another config makes the next one beside it. On a disk:

    DIR/revisions/1/ …   each is a whole run folder; files that two revisions share are hard links to one content
    DIR/current          a symbolic link to one of them, moved by one rename
    DIR/shards, …        symbolic links through it: the names that readers know mean the current revision

A run with one revision only lies in DIR itself. How they lie in an object store: see `stored_revisions`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import overload

from upath import UPath

from obelics_pipeline.core import stored_revisions as stored
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.revision_place import FIRST, FOLDER, MARK, POINTER, RESULTS, TAKEN, is_place, place_of
from obelics_pipeline.core.storage import TEMPORARY, Location, read_bytes, remove, remove_tree, sync, write_bytes


@overload
def current(base: Path) -> Path: ...
@overload
def current(base: UPath) -> UPath: ...
@overload
def current(base: Location) -> Location: ...
def current(base: Location) -> Location:
    """Where the current revision lies; `base` itself where there is only one.

    Raises UserError for a pointer in a store that names none, for a copy on a disk of a run in a store whose names mean
    another revision, and what `read_bytes` does, except where none is there.
    """
    if isinstance(base, Path):
        try:
            return base / os.readlink(base / POINTER)
        except OSError:  # none is there, or a copy that followed links has made a folder of it
            _refuse_copy_of_stored(base)
            return base
    if is_place(base):
        return base
    try:
        return place_of(base, int(read_bytes(base / POINTER)))
    except FileNotFoundError:
        return base
    except ValueError:
        raise UserError(
            f"{base / POINTER}: is damaged (it must hold the number of a revision); put the number there of one that "
            f"has a {MARK} in {base / FOLDER}, or {FIRST}"
        ) from None


def _refuse_copy_of_stored(base: Path) -> None:
    """Raises UserError where a pointer of a store lies on a disk: only there manifests and images are found by it."""
    if (base / FOLDER).is_dir() and (base / POINTER).is_file():
        raise UserError(
            f"{base}: is a copy of a run in an object store that has several revisions; there, let it have one "
            "(obelics revisions URL --keep 1), then copy it again"
        )


def current_number(base: Location) -> int:
    """The number of the current revision."""
    where = current(base)
    return FIRST if where == base else int(where.name)


def numbers(base: Location) -> list[int]:
    """The numbers of all revisions, whole or not, in the order in which they began."""
    if isinstance(base, Path):
        there = (base / FOLDER).is_dir()
        found = {int(path.name) for path in (base / FOLDER).iterdir() if path.name.isdigit()} if there else set()
    else:
        found = stored.numbers(base)
    return sorted(found | {current_number(base)})


@overload
def place(base: Path, number: int) -> Path: ...
@overload
def place(base: UPath, number: int) -> UPath: ...
@overload
def place(base: Location, number: int) -> Location: ...
def place(base: Location, number: int) -> Location:
    """Where a revision lies."""
    if isinstance(base, Path):
        return base if current(base) == base and number == FIRST else base / FOLDER / str(number)
    return place_of(base, number)


def begin(base: Location) -> Location:
    """Begin the next revision with all units, images and notes of the current one, shared; returns its folder.

    What a kill interrupts is no revision: the folder gets its name, or its mark, when all is in it.
    """
    number = max(numbers(base)) + 1
    if not isinstance(base, Path):
        target = place_of(base, number)
        stored.share(current(base), target)
        return target
    linked = base / FOLDER / str(number)
    draft = _linked([path for path in parts_of(current(base)) if path.name not in RESULTS], linked)
    draft.rename(linked)
    sync(linked.parent)
    return linked


def point(base: Location, number: int) -> None:
    """Make a revision the current one, for all readers at once."""
    if not isinstance(base, Path):
        return write_bytes(base / POINTER, f"{number}\n".encode())
    if current(base) == base:
        _archive(base)
    through_pointer(base)
    for path in parts_of(base / FOLDER / str(number)):
        _lead(base, path.name)
    _move_pointer(base, number)
    for path in base.iterdir():
        if path.is_symlink() and path.readlink().parts[0] == POINTER and not path.exists():
            path.unlink()  # only the former revision has it
    sync(base)


def through_pointer(base: Location) -> None:
    """Make the names in `base` links through the pointer, where a kill came between."""
    if isinstance(base, Path) and (where := current(base)) != base:
        for path in parts_of(where):
            _lead(base, path.name)


def drop(base: Location, number: int) -> None:
    """Remove a revision that is not the current one. Files that others share stay with them.

    In a store its files are left over: see `stored_revisions.clear`.
    """
    if not isinstance(base, Path):
        return remove([place_of(base, number) / MARK])  # at once: what is left of it is no revision
    where = base / FOLDER / str(number)
    gone = where.with_name(f"{TEMPORARY}{number}")
    where.rename(gone)  # at once: no half of it is taken for a revision
    shutil.rmtree(gone)


def gather(base: Location) -> None:
    """Let a revision that is the only one lie in `base` itself again."""
    if not isinstance(base, Path):
        return _gather_stored(base)
    if numbers(base) != [current_number(base)] or not (base / FOLDER).exists():
        return
    if (where := current(base)) != base:
        through_pointer(base)
        for path in parts_of(where):
            draft = base / f"{TEMPORARY}{path.name}"
            _link(path, draft)
            (base / path.name).unlink()
            draft.rename(base / path.name)
        sync(base)
        (base / POINTER).unlink()
        sync(base)
    shutil.rmtree(base / FOLDER)


def _gather_stored(base: UPath) -> None:
    where = current(base)
    if where == base or numbers(base) != [current_number(base)]:
        return
    stored.gather(where, base)
    remove([base / POINTER])
    remove([where / MARK])
    remove_tree(base / FOLDER)


def _archive(base: Path) -> None:
    """Let what lies in `base` be the first revision, in a folder of its own, and the current one."""
    first = base / FOLDER / str(FIRST)
    draft = _linked(parts_of(base), first)
    shutil.rmtree(first, ignore_errors=True)  # of an archive that a kill stopped before the pointer was there
    draft.rename(first)
    sync(first.parent)
    shutil.rmtree(base / POINTER, ignore_errors=True)  # where a copy followed the link
    _move_pointer(base, FIRST)


def parts_of(folder: Path) -> Iterator[Path]:
    """What is in a folder and belongs to its revision."""
    for path in sorted(folder.iterdir()):
        if path.name in TAKEN | RESULTS or (path / "manifests").is_dir():
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
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".")]
        there = target / Path(folder).relative_to(path)
        there.mkdir()
        for name in names:
            if not name.startswith("."):
                os.link(Path(folder, name), there / name)
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


def _move_pointer(base: Path, number: int) -> None:
    _symlink(base / POINTER, Path(FOLDER, str(number)))
    sync(base)


def _symlink(path: Path, to: Path) -> None:
    """Make a symbolic link, in the place of the file or link that is there, in one step."""
    draft = path.with_name(f"{TEMPORARY}{path.name}")
    draft.unlink(missing_ok=True)
    draft.symlink_to(to)
    draft.rename(path)
