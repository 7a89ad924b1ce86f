"""The revisions of a run in an object store, which has no links: a revision names the files that another one has.

    DIR/…                the first revision, as a run with one revision lies
    DIR/revisions/2/ …   a further one: its own files, and manifests that name files of others (see `revision_place`)
    DIR/current          the number of the current one, moved by one conditional put; without it that is the first
    DIR/images/ …        the images of all revisions, named by their content

A revision is there once its `run.json` is, which is put last and removed first. What lies about without one is left
over from a kill, or holds files that others name; `clear` removes what nobody names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from upath import UPath

from obelics_pipeline.core.commit import Manifest, note, parsed, recall, rewrite
from obelics_pipeline.core.content_name import stated_hash
from obelics_pipeline.core.revision_place import (
    CARD,
    FIRST,
    FOLDER,
    MARK,
    RESULTS,
    SHARED,
    TAKEN,
    file_in,
    is_place,
    is_result,
    number_of,
    pieces_in,
    place_of,
    shared_pieces,
)
from obelics_pipeline.core.storage import (
    at_once,
    copy,
    files_below,
    folders_in,
    names_in,
    read_many,
    remove,
    size_of,
)

IMAGES, SHUFFLES = "images", "shuffled"
MANIFESTS, ENDING = "manifests", ".json"
BROKEN = (ValueError, KeyError, TypeError, AttributeError)  # of a manifest or a note that is damaged


@dataclass(frozen=True)
class Part:
    """A folder of a revision: its files by name, the manifests among them, and the shuffles with their notes.

    `units` are by the name of their folder below this one ("" for itself) and then the manifest.
    """

    folder: UPath
    files: Mapping[str, int]
    units: Sequence[tuple[str, Manifest]]
    shuffles: Mapping[str, Mapping[str, Any]]  # name of the note without its ending -> what it holds

    def others(self) -> list[str]:
        """The files that no manifest and no note speaks for: plans, lists and the like. Drafts are left out."""
        told = {f"{PurePosixPath(below, f['name'])}" for below, unit in self.units for f in unit.files.values()}
        below = tuple(f"{name}/" for name in self.shuffles)
        notes = {f"{name}{ENDING}" for name in self.shuffles}
        return [
            name
            for name in self.files
            if not (_is_manifest(name) or name in told or name in notes or name.startswith(below))
            and stated_hash(name) is None
        ]


def parts(root: UPath) -> Iterator[Part]:
    """The folders of a revision. In the folder of the run those of stages, and those that are known by name.

    Images are of the whole run.
    """
    for name in folders_in(root):
        if name in (IMAGES, FOLDER) or name.startswith("."):
            continue
        files = files_below(root / name)
        if is_place(root) or name in TAKEN or is_result(name) or any(_is_manifest(file) for file in files):
            yield _part(root / name, files)


def _part(folder: UPath, files: Mapping[str, int]) -> Part:
    names = [name for name in files if _is_manifest(name)]
    units = []
    for name, data in zip(names, read_many([folder / name for name in names]), strict=True):
        with suppress(*BROKEN):  # it commits nothing: its unit is done again
            units.append((_folder_of(name), parsed(data or b"")))
    shuffles = {}
    if folder.name == SHUFFLES:
        for name in files:
            if name.endswith(ENDING) and not _is_manifest(name) and name.count("/") == 1:
                with suppress(*BROKEN):
                    shuffles[name.removesuffix(ENDING)] = dict(recall(folder / name))
    return Part(folder, files, units, shuffles)


def _is_manifest(name: str) -> bool:
    return PurePosixPath(name).parent.name == MANIFESTS and name.endswith(ENDING)


def _folder_of(manifest: str) -> str:
    return "" if (folder := str(PurePosixPath(manifest).parent.parent)) == "." else folder


def _below(folder: UPath, name: str) -> UPath:
    return folder / name if name else folder


def share(source: UPath, target: UPath) -> None:
    """Begin a revision in `target` that has all units and notes of the one in `source`, by naming its files.

    What no manifest and no note names is small, and copied.
    """
    number = number_of(source)
    for part in parts(source):
        if is_result(part.folder.name):
            continue
        there = target / part.folder.name
        at_once(_copies, [(part.folder / name, there / name) for name in part.others()])
        for name, noted in part.shuffles.items():
            note(there / f"{name}{ENDING}", shared_pieces(noted, number))
        at_once(_rewrites, [(_below(there, folder), _shared(unit, number)) for folder, unit in part.units])
    _copy_files(source, target, TAKEN)


def _shared(manifest: Manifest, number: int) -> Manifest:
    return replace(manifest, files={role: {SHARED: number} | file for role, file in manifest.files.items()})


def _copies(pair: tuple[UPath, UPath]) -> None:
    copy(*pair)


def _rewrites(unit: tuple[UPath, Manifest]) -> None:
    rewrite(*unit)


def _copy_files(source: UPath, target: UPath, names: frozenset[str]) -> None:
    """Copy the files directly in the folder; what makes it a revision comes last."""
    for name in [*sorted(names - {MARK}), MARK]:
        with suppress(FileNotFoundError):
            copy(source / name, target / name)


def gather(source: UPath, base: UPath) -> None:
    """Copy the revision in `source` to `base` with all files that it names, except those that are there already."""
    for part in parts(source):
        there = base / part.folder.name
        at_once(_copies, [(part.folder / name, there / name) for name in part.others()])
        for name, noted in part.shuffles.items():
            pieces, groups = pieces_in(part.folder / name, noted)
            if pieces.path != (there / name).path:
                at_once(_copies, [(pieces / piece, there / name / piece) for piece in files_below(pieces)])
            note(there / f"{name}{ENDING}", groups)
        at_once(_brings, [(_below(part.folder, folder), unit, _below(there, folder)) for folder, unit in part.units])
    results = RESULTS | _results_in(source)
    remove(base / name for name in _results_in(base) - results)  # of what the base was before
    _copy_files(source, base, TAKEN | CARD | results)


def take_home(folder: UPath, manifests: Iterable[Manifest]) -> None:
    """Copy the files of units that another revision has into the folder of the units, which then name it no more."""
    at_once(_brings, [(folder, unit, folder) for unit in manifests if any(SHARED in f for f in unit.files.values())])


def _brings(unit: tuple[UPath, Manifest, UPath]) -> None:
    """Copy the files of a unit, in a folder, to another one, and then commit it there."""
    folder, manifest, target = unit
    for file in manifest.files.values():
        source, there = file_in(folder, file), target / str(file["name"])
        if source.path != there.path:
            copy(source, there)
    own = {role: {key: value for key, value in file.items() if key != SHARED} for role, file in manifest.files.items()}
    rewrite(target, replace(manifest, files=own))


def files_of(root: UPath) -> dict[str, int]:
    """Bytes of each file of a revision, its own and those that it names of others, by place. Images are left out."""
    found: dict[str, int] = {}
    for part in parts(root):
        found |= {(part.folder / name).path: size for name, size in part.files.items()}
        for folder, unit in part.units:
            found |= {file_in(_below(part.folder, folder), f).path: int(f["bytes"]) for f in unit.files.values()}
        for name, noted in part.shuffles.items():
            pieces, _ = pieces_in(part.folder / name, noted)
            found |= {(pieces / piece).path: size for piece, size in files_below(pieces).items()}
    names = RESULTS | TAKEN | _results_in(root)
    return found | {(root / name).path: size for name in names if (size := size_of(root / name)) is not None}


def _results_in(root: UPath) -> frozenset[str]:
    """The names of results that lie in the folder of a revision: those of parts of an index are not known before."""
    return frozenset(filter(is_result, names_in(root)))


def left_over(base: UPath, current: UPath) -> list[UPath]:
    """The folders of revisions that are none: begun and not whole, or dropped."""
    roots = [base, *(base / FOLDER / name for name in folders_in(base / FOLDER) if name.isdigit())]
    return [root for root in roots if root.path != current.path and size_of(root / MARK) is None]


def clear(root: UPath, living: Sequence[UPath]) -> None:
    """Remove what is left over of a revision, except the files that `living` ones name.

    The manifests of these stay as well, and others go last: by them a folder is known as a stage's the next time.
    """
    kept = {path for other in living for path in _named_of(other, number_of(root))}
    for part in parts(root):
        data = [name for name in part.files if not _is_manifest(name)]
        remove(part.folder / name for name in data if not _is_in(part.folder / name, kept))
        holding = {
            f"{folder}/{MANIFESTS}/{unit.unit}{ENDING}".lstrip("/")
            for folder, unit in part.units
            if any(file_in(_below(part.folder, folder), file).path in kept for file in unit.files.values())
        }
        remove(part.folder / name for name in part.files if _is_manifest(name) and name not in holding)
    names = TAKEN | RESULTS | _results_in(root)
    remove(root / name for name in names | (CARD if is_place(root) else frozenset()))


def _is_in(where: UPath, kept: set[str]) -> bool:
    return where.path in kept or where.parent.path in kept


def _named_of(root: UPath, number: int) -> Iterator[str]:
    """What a revision names of another one: files, and folders of pieces."""
    for part in parts(root):
        for folder, unit in part.units:
            yield from (
                file_in(_below(part.folder, folder), file).path
                for file in unit.files.values()
                if file.get(SHARED) == number
            )
        for name, noted in part.shuffles.items():
            if noted.get(SHARED) == number:
                yield pieces_in(part.folder / name, noted)[0].path


def numbers(base: UPath) -> set[int]:
    """The numbers of the revisions that are noted."""
    found = {int(name) for name in folders_in(base / FOLDER) if name.isdigit()} | {FIRST}
    return {number for number in found if size_of(place_of(base, number) / MARK) is not None}
