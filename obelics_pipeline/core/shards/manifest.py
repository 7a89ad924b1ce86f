"""manifest.json of a finished run: its shards, their contents, and the ledgers of everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar, get_origin, get_type_hints

from obelics_pipeline.core.config.run import RunConfig
from obelics_pipeline.core.errors import Damaged, UserError
from obelics_pipeline.core.index_name import INDEX, is_index_name, is_shard_table
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.shards.shard_table import ShardEntry, read_shard_table, shard_table
from obelics_pipeline.core.storage import Location, file_sha256, names_in, read_bytes, remove, size_of, write_bytes
from obelics_pipeline.core.unit import digest

FORMAT = "obelics-shards-1"
IN_PARTS = "obelics-shards-2"  # where the index is not one file: the tars are in a table
FILE, SHARDS = "manifest.json", "shards"
Made = TypeVar("Made")
COUNTED = ("documents", "texts", "images", "files", "bytes")


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A file of the index: its name within the run's folder, its hash, and how many tars it has the rows of.

    These follow, in the manifest's order, those of the part before.
    """

    name: str
    sha256: str
    bytes: int
    tars: int


@dataclass(frozen=True, slots=True)
class LookUpPart:
    """A bucket of a look-up (see `look_up`): its name within the folder `look-up`, its hash and that of its footer."""

    kind: str  # url or id
    name: str
    sha256: str
    bytes: int
    rows: int
    footer: int  # bytes at the end of the file
    footer_sha256: str


@dataclass(frozen=True, slots=True)
class Promises:
    """What holds for every document of a run because its config says so; `obelics validate` holds the run to it."""

    min_images: int
    max_images: int
    distinct_images: bool  # no image URL twice within a document
    fetched: bool  # every image has its file
    score_names: tuple[str, ...]
    format: str = "webdataset"  # of the tars; shards of before there was another do not name it


def promises_of(config: RunConfig, score_names: Sequence[str]) -> Promises:
    """What a config promises."""
    images = config.images
    return Promises(
        min_images=images.min_per_document,
        max_images=images.max_per_document,
        distinct_images=config.finish.drop_repeated_images,
        fetched=config.fetch.enabled,
        score_names=tuple(score_names),
        format=config.shard.format,
    )


@dataclass(frozen=True)
class RunManifest:
    """What a finished run consists of. `ledgers` are the run's; `notes` are JSON values for people."""

    shards: tuple[ShardEntry, ...]
    index: tuple[IndexPart, ...]  # one that is named INDEX, or parts of any number
    promises: Promises
    ledgers: Mapping[str, Ledger]
    notes: Mapping[str, Any]
    look_up: tuple[LookUpPart, ...] = ()  # the buckets of each kind in order; none of before there were look-ups

    def counts(self) -> dict[str, int]:
        """Sums over the shards."""
        sums = {name: sum(getattr(shard, name) for shard in self.shards) for name in COUNTED}
        return {"shards": len(self.shards), **sums}

    @property
    def only_index(self) -> IndexPart | None:
        """The index where it is one file; None where it lies in parts."""
        return self.index[0] if [part.name for part in self.index] == [INDEX] else None

    def index_id(self) -> str:
        """What stands for the rows of the index: the sha256 of its file, or a digest of those of its parts."""
        only = self.only_index
        return only.sha256 if only is not None else digest([part.sha256 for part in self.index])

    def files(self) -> dict[str, bytes]:
        """What it is on the disk, by file name: of a large run the table of its tars, and last of all FILE.

        It names no time and no machine: equal runs have equal manifests.
        """
        files, only = dict[str, bytes](), self.only_index
        shards: Any
        if only is not None:
            form, index = FORMAT, dict[str, Any](name=INDEX, sha256=only.sha256, bytes=only.bytes)
            shards = [asdict(shard) for shard in self.shards]
        else:
            form, index = IN_PARTS, {"parts": [asdict(part) for part in self.index]}
            name, table = shard_table(self.shards)
            files[name] = table
            shards = {"table": name, "bytes": len(table), "tars": len(self.shards)}
        look_up = {"look_up": [asdict(part) for part in self.look_up]} if self.look_up else {}
        value = {
            "format": form,
            "counts": self.counts(),
            "promises": asdict(self.promises),
            "index": index,
            **look_up,
            "ledgers": {noun: ledger.to_json() for noun, ledger in self.ledgers.items()},
            "notes": redacted(dict(self.notes)),
            "shards": shards,
        }
        return files | {FILE: (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()}


def shard_name(number: int) -> str:
    """The file name of a shard by its number in the run, from 0."""
    return f"shard-{number:06d}.tar"


def shard_entry(path: Path, rows: Sequence[Mapping[str, Any]]) -> ShardEntry:
    """The entry of a finished tar from its index rows."""
    texts, images, files = (sum(row[key] for row in rows) for key in ("n_texts", "n_images", "n_files"))
    return ShardEntry(path.name, file_sha256(path), path.stat().st_size, len(rows), texts, images, files)


def index_part(path: Location, tars: int) -> IndexPart:
    """The entry of a finished file of the index, which has the rows of so many tars."""
    return IndexPart(path.name, file_sha256(path), size_of(path) or 0, tars)


def write_manifest(folder: Location, manifest: RunManifest) -> None:
    """Write it whole or not at all: a folder with a manifest is a finished run."""
    files = manifest.files()
    for name, data in files.items():
        write_bytes(folder / name, data)
    remove(folder / name for name in shard_tables(folder) if name not in files)


def shard_tables(folder: Location) -> list[str]:
    """The tables of tars that lie in a run's folder."""
    return [name for name in names_in(folder, "shards-") if is_shard_table(name)]


def read_manifest(folder: Location) -> RunManifest:
    """The manifest of a finished run. Raises UserError if the folder has no manifest, or one that is not ours."""
    path = folder / FILE
    try:
        value = json.loads(read_bytes(path))
    except OSError:
        raise UserError(f"{folder}: no finished run here ({FILE} is missing); give the --output of a run") from None
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error}); run the same command again to rewrite it") from None
    try:
        if value["format"] not in (FORMAT, IN_PARTS):
            raise ValueError(f"format {value['format']!r}, this version reads {FORMAT} and {IN_PARTS}")
        manifest = _from_json(value, _shards(folder, value["format"], value["shards"]))
        _check_sums(manifest, value["counts"])
        return manifest
    except Damaged as error:
        raise UserError(str(error)) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: not the manifest of a run ({type(error).__name__}: {error})") from None


def standing_manifest(folder: Location) -> RunManifest | None:
    """The manifest of a folder; None where it is missing or damaged."""
    try:
        return read_manifest(folder)
    except (UserError, OSError):
        return None


def publishes(folder: Location, shards: Sequence[ShardEntry], promises: Promises) -> bool:
    """Whether a manifest stands in a run's folder that names exactly these tars and promises."""
    standing = standing_manifest(folder)
    return standing is not None and standing.shards == tuple(shards) and standing.promises == promises


def part_is_whole(folder: Location, part: IndexPart) -> bool:
    """Whether a file of the index has the bytes that its entry states."""
    try:
        return file_sha256(folder / part.name) == part.sha256
    except OSError:
        return False


def stated_counts(folder: Location) -> dict[str, Any]:
    """The sums as they stand in the file, for comparison with its list of shards."""
    counts: dict[str, Any] = json.loads(read_bytes(folder / FILE))["counts"]
    return counts


def _from_json(value: dict[str, Any], shards: tuple[ShardEntry, ...]) -> RunManifest:
    return RunManifest(
        shards=shards,
        index=_index(value["format"], value["index"], len(shards)),
        promises=_typed(Promises, value["promises"] | {"score_names": tuple(value["promises"]["score_names"])}),
        ledgers={noun: Ledger.from_json(noun, counts) for noun, counts in value["ledgers"].items()},
        notes=value["notes"],
        look_up=tuple(_typed(LookUpPart, part) for part in value.get("look_up", ())),
    )


def _shards(folder: Location, form: str, stated: Any) -> tuple[ShardEntry, ...]:
    """The tars, as the manifest of a small run lists them, or in the table of a large one."""
    if form == FORMAT:
        return tuple(_typed(ShardEntry, shard) for shard in stated)
    found = read_shard_table(folder, str(stated["table"]))
    if len(found) != stated["tars"]:
        raise ValueError(f"{stated['table']} has {len(found)} of {stated['tars']} tars")
    return found


def _index(form: str, stated: dict[str, Any], tars: int) -> tuple[IndexPart, ...]:
    """The files of the index. Raises ValueError for names of other files, and where tars are in no part."""
    if form == FORMAT:
        return (_typed(IndexPart, {"name": INDEX, "sha256": stated["sha256"], "bytes": stated["bytes"], "tars": tars}),)
    parts = tuple(_typed(IndexPart, part) for part in stated["parts"])
    names = [part.name for part in parts]
    if strange := [name for name in names if not is_index_name(name) or name == INDEX or names.count(name) > 1]:
        raise ValueError(f"{strange[0]!a} is no name of a part of the index, or is given twice")
    if not parts or sum(part.tars for part in parts) != tars or any(part.tars < 0 for part in parts):
        raise ValueError(f"the parts of the index have {[part.tars for part in parts]} of {tars} tars")
    return parts


def _check_sums(manifest: RunManifest, stated: Any) -> None:
    """Raises TypeError where what should be counted is no number."""
    manifest.counts()
    for ledger in manifest.ledgers.values():
        ledger.balanced()
    if not isinstance(stated, dict):
        raise TypeError(f"counts is {stated!a}")


def _typed(kind: type[Made], values: dict[str, Any]) -> Made:
    """Make a dataclass of plain fields; raises TypeError for a field that is missing, unknown or of another type."""
    made = kind(**values)
    for name, expected in get_type_hints(kind).items():
        if type(getattr(made, name)) is not (get_origin(expected) or expected):
            raise TypeError(f"{name} is {getattr(made, name)!a}, must be {expected}")
    return made
