"""The damaged files of a run, found by reading all of them: `obelics validate --deep`.

Readers compare a file with its hash when they read it. A finished run reads little again, so this reads the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.commit import NOW, parsed, recall
from obelics_pipeline.core.config.run import load_resolved
from obelics_pipeline.core.content_name import stated_hash
from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.errors import Damaged, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.index_name import is_index_name
from obelics_pipeline.core.revision_place import FOLDER as REVISIONS
from obelics_pipeline.core.revision_place import MARK, file_in, pieces_in
from obelics_pipeline.core.shards.manifest import FILE, read_manifest
from obelics_pipeline.core.storage import (
    TEMPORARY,
    Location,
    file_sha256,
    files_below,
    hold_to_name,
    local_copy,
    read_bytes,
    read_table,
    size_of,
)
from obelics_pipeline.core.unit import label_of_unit
from obelics_pipeline.policy.lists.table import Damaged as NotWhole
from obelics_pipeline.policy.lists.table import Table
from obelics_pipeline.stages.fetch.image_pack import ENDING, Span, pack_path
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.named_images import places_named
from obelics_pipeline.stages.fetch.removed_packs import RemovedPacks, removed_packs
from obelics_pipeline.stages.fetch.run_images import RunImages

LEFT_OUT = frozenset({"events.jsonl", "input", "export", REVISIONS})  # names in a run's folder
DIFFERS, MISSING, UNREADABLE = "differs from what the run wrote", "is missing", "cannot be read"
BROKEN = (OSError, ValueError, KeyError, TypeError, pa.ArrowException, Damaged)
Check = Callable[[], str | None]  # what is wrong with one file, None if nothing is
Found = list[tuple[str, Check]]  # files by name within the run's folder
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True)
class Survey:
    """What was read of a run: the damaged files by name within its folder, and which kinds of check were made.

    `held` files were compared with a hash, `parsed` ones have none and were read as what they should be.
    """

    damaged: Mapping[str, str]  # name -> what is wrong
    held: int
    parsed: int
    removed: RemovedPacks | None = None  # on purpose

    def lines(self) -> list[str]:
        """For a person: each damaged file, then a summary."""
        found = counted(len(self.damaged), "damaged files") if self.damaged else "no damaged file"
        read = f"{counted(self.held, 'files')} compared with their hashes, {self.parsed} without one read"
        gone = [] if self.removed is None else [self.removed.line()]
        return [*(f"{name}: {what}" for name, what in self.damaged.items()), *gone, f"{found}: {read}"]


def survey(folder: RunFolder, each: Map = map) -> Survey:
    """Read every file of a run's folder and compare it with what the run noted of it.

    `each` maps what reads one file over all: `map`, or that of a pool of threads. The log of events, receipts within
    a shuffle and files that are no run's are left out.
    """
    names = [name for name in files_below(folder.path) if not _is_left_out(name)]
    held = dict(_held(folder, names, each))
    removed = None
    with suppress(UserError):  # a damaged note is among what is damaged
        removed = removed_packs(folder)
    read = {name: check for name, check in _readable(folder, names) if name not in held}
    checks = held | read
    wrong = zip(checks, each(_outcome, checks.items()), strict=True)
    return Survey({name: what for name, what in sorted(wrong) if what is not None}, len(held), len(read), removed)


def _outcome(named: tuple[str, Check]) -> str | None:
    try:
        return named[1]()
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except BROKEN:
        return DIFFERS


def _is_left_out(name: str) -> bool:
    """Whether it is a log, a lock, a draft, of another revision, or not written by a run's stages."""
    first, last = PurePosixPath(name).parts[0], PurePosixPath(name).name
    return first.startswith(".") or last.startswith(TEMPORARY) or first in LEFT_OUT


def _held(folder: RunFolder, names: Sequence[str], each: Map) -> Iterator[tuple[str, Check]]:
    """The files of which a hash is known, and the files that a manifest or a note names, there or not."""
    naming: list[Callable[[], Found]] = []
    for name in names:
        where = folder.path / name
        if stated_hash(where.name) is not None:
            yield name, partial(_hold_to_name, where)
        elif name.startswith(f"{folder.images.name}/") and not name.endswith(ENDING):
            yield name, partial(_hold_image, ImageStore(folder.images), where.name)
        elif name.startswith(f"{folder.opt_out_lists.name}/"):
            yield name, partial(_hold_list, where)
        elif "/manifests/" in f"/{name}" and name.endswith(".json"):
            yield name, partial(_hold_manifest, where)
            naming.append(partial(_files_of_unit, name, where))
        elif "/" in name and name.endswith(".json") and "=" not in where.name:  # a receipt is read once, by its shuffle
            yield name, partial(_hold_note, where)
            naming.append(partial(_pieces_of_note, name, where))
    naming += _fetched(folder, names)
    yield from chain.from_iterable(each(_called, naming))
    yield from _published(folder)


def _hold_to_name(where: Location) -> str | None:
    if size_of(where) is None:
        return MISSING
    hold_to_name(where)
    return None


def _hold_image(store: ImageStore, sha256: str) -> None:
    store.read(sha256)


def _hold_list(where: Location) -> str | None:
    try:
        Table(where)
    except NotWhole:
        return DIFFERS
    return None


def _hold_manifest(where: Location) -> None:
    parsed(read_bytes(where))


def _hold_note(where: Location) -> None:
    recall(where)


def _hold_to_hash(where: Location, sha256: str) -> str | None:
    return None if file_sha256(where) == sha256 else DIFFERS


def _called(look: Callable[[], Found]) -> Found:
    return look()


def _files_of_unit(name: str, where: Location) -> Found:
    """The files that a unit's manifest names, each with the hash that it gives; none of a damaged manifest."""
    stage = f"/{name}".rpartition("/manifests/")[0]
    found: Found = []
    with suppress(*BROKEN):
        for file in parsed(read_bytes(where)).files.values():
            if _lies_below(file["name"]):
                there = file_in(where.parent.parent, file)
                found.append(
                    (f"{stage}/{file['name']}"[1:], partial(_hold_to_hash, there, str(file.get(NOW, file["sha256"]))))
                )
            else:
                found.append((name, _differs))
    return found


def _pieces_of_note(name: str, where: Location) -> Found:
    """The pieces that the note of a shuffle names; none of another note."""
    below = name.removesuffix(".json")
    found: Found = []
    with suppress(*BROKEN, AttributeError):
        there, groups = pieces_in(where.parent / where.stem, recall(where))
        for group in groups.values():
            for piece in group["pieces"].values():
                if _lies_below(piece["name"]):
                    found.append((f"{below}/{piece['name']}", partial(_hold_to_name, there / piece["name"])))
                else:
                    found.append((name, _differs))
    return found


def _lies_below(name: object) -> bool:
    """Whether a manifest or a note names a file below its own folder: a stranger may have written it."""
    return isinstance(name, str) and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts


def _differs() -> str:
    return DIFFERS


def _fetched(folder: RunFolder, names: Sequence[str]) -> Iterator[Callable[[], Found]]:
    """The images that each unit of the stage `fetch` says were stored."""
    there = frozenset(names)
    units = [name for name in names if name.startswith(f"{folder.fetch.name}/manifests/bucket-")]
    for name in units:
        yield partial(_images_of, folder, folder.path / name, there)
    for label in sorted({label_of_unit(PurePosixPath(name).stem) for name in units}):
        yield partial(_packs_of, folder, label)


def _images_of(folder: RunFolder, manifest: Location, there: frozenset[str]) -> Found:
    """The files of images that a unit names, without those that are `there`: these are looked at anyway."""
    store = ImageStore(folder.images)
    found: Found = []
    with suppress(*BROKEN):
        results = parsed(read_bytes(manifest)).path(folder.fetch, "data")
        for sha256 in _alone(results):
            place = f"{folder.images.name}/{sha256[:2]}/{store.path(sha256).name}"  # ValueError: no sha256
            if place not in there:
                found.append((place, partial(_hold_image, store, sha256)))
    return found


def _alone(results: Location) -> Iterator[str]:
    """The sha256 of images that have a file of their own."""
    table = read_table(results)
    packs = table["pack"].to_pylist() if "pack" in table.column_names else [None] * table.num_rows
    for sha256, pack in zip(table["sha256"].to_pylist(), packs, strict=True):
        if sha256 is not None and pack is None:
            yield sha256


def _packs_of(folder: RunFolder, label: str) -> Found:
    """The packs that the units of a bucket name."""
    found: Found = []
    with suppress(*BROKEN):
        packs = sorted({place.pack for place, _ in places_named([folder.fetch], label)})
        for pack in packs:
            if not pack.startswith(f"{label}/"):
                raise ValueError(f"{pack}: not a pack of {label}")
            found.append((f"{folder.images.name}/{pack}{ENDING}", partial(_hold_pack, folder, label, pack)))
    return found


def _hold_pack(folder: RunFolder, label: str, pack: str) -> str | None:
    removed = size_of(folder.images_removed) is not None
    if size_of(pack_path(folder.images, pack)) is None:
        return None if removed else MISSING
    named = dict(places_named([folder.fetch], label, pack))
    gone = named.keys() - RunImages(folder.images).whole(named)
    if removed:  # what came back has zeros where an image is in no tar
        gone = {place for place in gone if any(any(content) for _, content in Span((place,)).read(folder.images))}
    return DIFFERS if gone else None


def _published(folder: RunFolder) -> Iterator[tuple[str, Check]]:
    """The manifest, whose hash is noted where all shards were read back, and the index, whose hashes it gives."""
    with suppress(*BROKEN):
        yield FILE, partial(_hold_to_hash, folder.manifest, read_bytes(folder.validated).decode().strip())
    with suppress(*BROKEN):
        table = json.loads(read_bytes(folder.manifest))["shards"]["table"]  # of a large run: others list their tars
        yield table, partial(_hold_to_name, folder.path / table)
    with suppress(*BROKEN, UserError):
        for part in read_manifest(folder.path).index:
            yield part.name, partial(_hold_to_hash, folder.path / part.name, part.sha256)


def _readable(folder: RunFolder, names: Sequence[str]) -> Iterator[tuple[str, Check]]:
    """The files of which no hash is known: what they are is all that can be checked."""
    notes = (folder.path / MARK, folder.inputs, folder.stages, folder.images_removed)
    tables = [folder.duplicates, folder.training, *(folder.path / name for name in names if is_index_name(name))]
    checks: dict[str, Check] = {where.name: partial(_hold_note, where) for where in notes}
    checks |= {where.name: partial(_read_whole, where) for where in tables}
    checks[folder.config.name] = partial(_read_config, folder.config)
    checks[folder.manifest.name] = partial(_read_object, folder.manifest)
    yield from ((name, checks[name]) for name in names if name in checks)


def _read_object(where: Location) -> str | None:
    return None if isinstance(json.loads(read_bytes(where)), dict) else UNREADABLE


def _read_whole(where: Location) -> None:
    read_table(where)


def _read_config(where: Location) -> str | None:
    with local_copy(where) as path:
        return None if load_resolved(path) else UNREADABLE
