"""Which images fetch units name; what no unit names is removed from the run's images."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from obelics_pipeline.core.commit import Manifest, read_manifests, unit_names
from obelics_pipeline.core.storage import Location, files_below, read_schema, read_table, remove
from obelics_pipeline.stages.fetch.image_pack import ENDING, Place, keep_only

_INDEX = ("sha256", "n_bytes", "pack", "offset")


def drop_unnamed(folders: Sequence[Location], images: Location) -> int:
    """Remove images that no fetch unit names; returns how many bytes. Call it only while nothing fetches.

    `folders` are those of all fetch units whose images lie in `images`.
    """
    files = files_below(images)
    packs = [name for name in files if name.endswith(ENDING)]
    alone = files.keys() - set(packs)
    named = hashes_named(folders) if alone else set()
    unnamed = sorted(name for name in alone if name.rpartition("/")[2] not in named)
    remove(images / name for name in unnamed)
    return sum(files[name] for name in unnamed) + blank_unnamed(images, packs, folders)


def blank_unnamed(
    images: Location, packs: Iterable[str], folders: Sequence[Location], stays: Callable[[str], bool] | None = None
) -> int:
    """Make zeros of what no unit in `folders` names in these packs, given by file name; returns how many bytes.

    A pack without anything that is named is removed. What is named stays only where `stays` says so of its sha256.
    """
    by_label: dict[str, list[str]] = defaultdict(list)
    for name in packs:
        by_label[name.partition("/")[0]].append(name.removesuffix(ENDING))
    blanked = 0
    for label, of_label in sorted(by_label.items()):
        named: dict[str, set[Place]] = defaultdict(set)
        for place, sha256 in places_named(folders, label):
            if stays is None or stays(sha256):
                named[place.pack].add(place)
        blanked += sum(keep_only(images, pack, named[pack]) for pack in sorted(of_label))
    return blanked


def places_named(folders: Iterable[Location], label: str, pack: str | None = None) -> Iterator[tuple[Place, str]]:
    """The places that the units of a label name, in one pack or in all, each with the sha256 of its image."""
    for folder, unit in _units(folders, label):
        for row in _rows(folder, unit, _INDEX, None if pack is None else [("pack", "==", pack)]):
            if row["pack"] is not None and row["sha256"] is not None:
                yield Place(row["pack"], row["offset"], row["n_bytes"]), row["sha256"]


def hashes_named(folders: Iterable[Location]) -> set[str]:
    """The sha256 of every image that the fetch units in these folders say was stored."""
    found = {row["sha256"] for folder, unit in _units(folders) for row in _rows(folder, unit, ["sha256"])}
    return found - {None}


def packs_named(folders: Iterable[Location]) -> set[str]:
    """The file names of all packs that the fetch units in these folders name."""
    found = {row["pack"] for folder, unit in _units(folders) for row in _rows(folder, unit, ["pack"])}
    return {f"{pack}{ENDING}" for pack in found if pack is not None}


def units_naming(folder: Location, name: str) -> list[str]:
    """The units that name an image, by its file in the folder of images: a pack, or a file of its own.

    Raises Damaged where it cannot be read which units these are.
    """
    if name.endswith(ENDING):
        label, column, value = name.partition("/")[0], "pack", name.removesuffix(ENDING)
    else:
        label, column, value = "", "sha256", name.rpartition("/")[2]
    units = (unit for _, unit in _units([folder], label))
    return [unit.unit for unit in units if any(row[column] == value for row in _rows(folder, unit, [column]))]


def _units(folders: Iterable[Location], label: str = "") -> Iterator[tuple[Location, Manifest]]:
    for folder in folders:
        for manifest in read_manifests(folder, unit_names(folder, label)).values():
            yield folder, manifest


def _rows(folder: Location, unit: Manifest, columns: Sequence[str], filters: Any = None) -> Iterator[dict[str, Any]]:
    """Some columns of a unit's results; none where an earlier version wrote them, without places."""
    where = unit.path(folder, "data")
    if set(columns) <= set(read_schema(where).names):
        for batch in read_table(where, list(columns), filters).to_batches(10_000):
            yield from batch.to_pylist()
