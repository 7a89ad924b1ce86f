"""How a unit's output becomes part of a run: data under a temporary name, then one manifest, created if absent.

Readers trust manifests only, so a unit is either whole or not there, whenever a process is killed. The same holds in
an object store: there the temporary files are local, and each is put whole.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from upath import UPath

from obelics_pipeline.core.content_name import content_name, stated_hash, stem_of
from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.revision_place import SHARED, counterpart, file_in
from obelics_pipeline.core.storage import (
    TEMPORARY,
    Location,
    create,
    draft_for,
    file_sha256,
    files_below,
    names_in,
    put,
    put_once,
    read_bytes,
    read_many,
    remove,
    remove_tree,
    size_of,
    sizes_in,
    sweep_scratch,
    write_bytes,
)
from obelics_pipeline.core.unit import Unit, digest, label_of_unit

ENDING = ".json"
SEAL = "seal"  # key of the digest of all else in a manifest or a note
NOW = "now"  # key of a file in a manifest: the sha256 of what is there, where forget left another than was committed
LEFT = "left"  # note of a manifest that a unit hands back before it is done: how much of it is left to do
FEW = 16  # manifests that are asked for one by one; to list a stage of an object store takes a request per thousand


@dataclass(frozen=True)
class Manifest:
    """What a committed unit consists of: its files with their sha256, its ledgers, and what else the stage notes.

    What is `told` may have a clock, and is not written.
    """

    unit: str
    stage: str
    files: dict[str, dict[str, Any]]  # role -> {"name", "sha256", "bytes"}; "revision" where another has the file
    ledgers: dict[str, Ledger]
    notes: dict[str, Any]
    told: Mapping[str, Any] = field(default_factory=dict, compare=False)  # by its worker, for the event log alone

    def path(self, folder: Location, role: str) -> Location:
        """The file that plays `role` in this unit; `folder` is the stage's."""
        return file_in(folder, self.files[role])

    def to_json(self) -> dict[str, Any]:
        """The manifest as JSON for the disk, with a digest of all of it, so that a reader notices damage."""
        value = {
            "unit": self.unit,
            "stage": self.stage,
            "files": self.files,
            "ledgers": {noun: ledger.to_json() for noun, ledger in self.ledgers.items()},
            "notes": self.notes,
        }
        return value | {SEAL: digest(value)}


class Attempt:
    """One try at a unit: temporary files that either become the unit's output together or are gone.

    Use as a context manager; `commit` is the last thing inside it.
    """

    def __init__(self, folder: Location, unit: Unit) -> None:
        self._folder, self._unit = folder, unit
        self._files: dict[str, tuple[Path, str]] = {}

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, *_: object) -> None:
        for path, _ending in self._files.values():
            path.unlink(missing_ok=True)

    def file(self, role: str, suffix: str, name: str | None = None) -> Path:
        """A temporary local path to write the file of this role to.

        Committed, it is named after the unit, its content and `suffix` (".parquet"), or as `name` says; the main
        file of a unit plays the role "data" and lies in the stage's folder, the others in a folder of their role.
        """
        path = draft_for(self._folder, suffix)
        self._files[role] = path, name or suffix
        return path

    def commit(self, ledgers: Sequence[Ledger], notes: dict[str, Any] | None = None) -> Manifest:
        """Move the files to their final names, named by their content, and create the manifest.

        Where another attempt was first, its manifest stands and is returned. Raises ValueError for a ledger that
        does not balance: a unit that lost something is never committed.
        """
        for ledger in ledgers:
            if not ledger.balanced():
                raise ValueError(f"unit {self._unit.name}: the ledger of {ledger.noun} does not balance: {ledger}")
        files = {role: self._publish(role) for role in self._files}
        manifest = Manifest(self._unit.name, self._unit.stage, files, {x.noun: x for x in ledgers}, notes or {})
        path = manifest_path(self._folder, self._unit.name)
        data = _json(manifest.to_json())
        if create(path, data):
            return parsed(data)
        standing = read_manifest(self._folder, self._unit.name)
        if standing is None:
            remove([path])  # damaged, or what it names is gone: it commits nothing
            create(path, data)
        return standing or read_manifest(self._folder, self._unit.name) or manifest

    def _publish(self, role: str) -> dict[str, Any]:
        """Give a file its final name; what the manifest says of it."""
        path, ending = self._files[role]
        sha256, size = file_sha256(path), path.stat().st_size
        name = content_name(self._unit.name, sha256, ending) if ending.startswith(".") else ending
        name = name if role == "data" else f"{role}/{name}"
        target = self._folder / name
        if isinstance(target, Path):
            put(path, target)
        else:
            put_once(path, target, sha256)
        return {"name": name, "sha256": sha256, "bytes": size}


def manifest_path(folder: Location, unit_name: str) -> Location:
    """Where a unit's manifest stands."""
    return folder / "manifests" / f"{unit_name}{ENDING}"


def read_manifest(folder: Location, unit_name: str) -> Manifest | None:
    """The manifest of a unit, or None while it is not committed (or its files are gone or of another size)."""
    try:
        manifest = parsed(read_bytes(manifest_path(folder, unit_name)))
        whole = all(size_of(file_in(folder, f)) == f["bytes"] for f in manifest.files.values())
    except _absent(folder):
        return None
    return manifest if whole else None


def _absent(where: Location) -> tuple[type[Exception], ...]:
    """What says that a file is not there, or not what it should be: on a disk also that it cannot be read."""
    missing = OSError if isinstance(where, Path) else FileNotFoundError  # a store may answer the next time
    return missing, ValueError, KeyError, TypeError


def parsed(data: bytes) -> Manifest:
    """The manifest in these bytes. Raises ValueError, KeyError or TypeError for bytes that no commit wrote."""
    value = json.loads(data)
    if SEAL in value and value.pop(SEAL) != digest(value):  # an earlier version wrote none
        raise ValueError("a manifest that is not as it was written")
    ledgers = {noun: Ledger.from_json(noun, counts) for noun, counts in value["ledgers"].items()}
    return Manifest(value["unit"], value["stage"], value["files"], ledgers, value["notes"])


def read_manifests(folder: Location, unit_names: Sequence[str]) -> dict[str, Manifest]:
    """The manifests of those of many units that are committed, by their names."""
    return dict(named_manifests(folder, unit_names))


def named_manifests(folder: Location, unit_names: Sequence[str]) -> Iterator[tuple[str, Manifest]]:
    """The names and manifests of those of many units that are committed, in order, a few at a time.

    Of more than a few in an object store, one listing says which are there and whether their files are whole; then they
    are read many at a time.
    """
    if isinstance(folder, Path) or len(unit_names) <= FEW:
        read = ((name, read_manifest(folder, name)) for name in unit_names)
        yield from ((name, manifest) for name, manifest in read if manifest is not None)
        return
    sizes = _Sizes(folder)
    there = [name for name in unit_names if sizes.of(None, f"manifests/{name}{ENDING}") is not None]
    for name, data in zip(there, read_many([manifest_path(folder, name) for name in there]), strict=True):
        try:
            manifest = parsed(data or b"")
            whole = all(sizes.of(f.get(SHARED), f["name"]) == f["bytes"] for f in manifest.files.values())
        except (ValueError, KeyError, TypeError):
            continue
        if whole:
            yield name, manifest


class _Sizes:
    """The files of units in a folder of an object store, and in the same folder of other revisions.

    Each folder that units have files in is listed once; what else lies below, such as the images of a run, is not.
    """

    def __init__(self, folder: UPath) -> None:
        self._folder = folder
        self._listed: dict[tuple[int | None, PurePosixPath], dict[str, int]] = {}

    def of(self, number: int | None, name: str) -> int | None:
        """Bytes of a file of a revision, None: of the folder itself. Raises ValueError as `counterpart` does."""
        place = PurePosixPath(name)
        if (number, place.parent) not in self._listed:
            there = self._folder if number is None else counterpart(self._folder, number)
            self._listed[number, place.parent] = sizes_in(there / str(place.parent) if place.parent.name else there)
        return self._listed[number, place.parent].get(place.name)


def rewrite(folder: Location, manifest: Manifest) -> None:
    """Put a manifest over the one of the same unit."""
    write_bytes(manifest_path(folder, manifest.unit), _json(manifest.to_json()))


def unit_names(folder: Location, label: str = "") -> list[str]:
    """The names of the units that have a manifest, sorted; of one label only, where it is given."""
    names = names_in(folder / "manifests", f"{label}-" if label else "")
    return [name.removesuffix(ENDING) for name in names if name.endswith(ENDING)]


def names_by_label(folder: Location) -> dict[str, list[str]]:
    """The names of the units that have a manifest, sorted, by their label: one listing for a step, not one a unit."""
    found: dict[str, list[str]] = {}
    for name in unit_names(folder):
        found.setdefault(label_of_unit(name), []).append(name)
    return found


def committed(folder: Location, unit_name: str) -> Manifest:
    """The manifest of a unit that an earlier step committed. Raises Damaged where the unit is gone, or not whole.

    Whether its objects are there, where it is in a store, is left to who reads them: the driver has seen them.
    """
    where = manifest_path(folder, unit_name)
    try:
        manifest = read_manifest(folder, unit_name) if isinstance(folder, Path) else parsed(read_bytes(where))
    except _absent(folder):
        manifest = None
    if manifest is None:
        raise Damaged(str(where))
    return manifest


def once(unit: Unit, *model: Any, work: Callable[..., Manifest], folder: Location) -> Manifest:
    """Do a unit, with the model that the engine gives it if it does, unless it is committed.

    An engine tries again what it thinks is lost. Its seconds go to the driver, and to no file of the unit.
    """
    standing = read_manifest(folder, unit.name)
    if standing is not None:
        return standing
    began, used = time.monotonic(), time.process_time()
    made = work(unit, *model)
    took = {"seconds": round(time.monotonic() - began, 3), "cpu_seconds": round(time.process_time() - used, 3)}
    return replace(made, told={**took, **made.told})


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def remember(path: Location, make: Callable[[], Any]) -> Any:
    """The JSON value that `make` returned when this file was first asked for. `path` names all that it depends on.

    What is in the file and not as it was written is made again.
    """
    try:
        return recall(path)
    except _absent(path):
        value = make()
        note(path, value)
        return value


def note(path: Location, value: Any) -> None:
    """Write a JSON value for `recall`."""
    write_bytes(path, _json({"value": value, SEAL: digest(value)}))


def recall(path: Location) -> Any:
    """The JSON value that `note` wrote. Raises FileNotFoundError, or ValueError for another than was written.

    An earlier version wrote the value alone: a list, or an object that has neither of our two keys.
    """
    found = json.loads(read_bytes(path))
    if not isinstance(found, dict) or not {"value", SEAL} & found.keys():
        return found
    if found.keys() != {"value", SEAL} or found[SEAL] != digest(found["value"]):
        raise ValueError(f"{path}: not as it was written")
    return found["value"]


def note_of(piece: Location) -> Location:
    """The note that names a piece of a shuffle, beside the folder that the piece is in."""
    return piece.parent.parent / f"{piece.parent.name}{ENDING}"


def disown(where: Location) -> None:
    """Remove a damaged file, and the record that it is whole: the next reader sees that it must be made again."""
    if stated_hash(where.name) is not None:
        folders = (where.parent, where.parent.parent)  # the latter of a file that does not play the role "data"
        remove([*(manifest_path(folder, stem_of(where.name)) for folder in folders), note_of(where)])
    remove([where])


def sweep(folder: Location, wanted: Iterable[Manifest]) -> int:
    """Remove every file of a stage's folder that no wanted manifest names; returns how many were removed."""
    keep: set[str] = set()
    for manifest in wanted:
        keep |= {f["name"] for f in manifest.files.values()} | {f"manifests/{manifest.unit}{ENDING}"}
    stray = [name for name in files_below(folder) if name not in keep]
    remove(folder / name for name in stray)
    return len(stray)


def sweep_temporary(folder: Location) -> None:
    """Remove what a killed run left behind before it was named. Only for who holds the run's lock."""
    if not isinstance(folder, Path):
        sweep_scratch()
        return
    for path in list(folder.rglob(f"{TEMPORARY}*")):
        if path.is_dir():  # rows that a shuffle was dealing out
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)
