"""Where a revision of a run lies, by name, and how it names the files that it shares with another.

On a disk shared files are hard links. In an object store, which has none, the manifest of a unit says beside the name
of a file which revision has it (`revision`), at the same place within its folder; the note of a shuffle says the same
of all its pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from upath import UPath

from obelics_pipeline.core.index_name import is_index_name, is_shard_table

FOLDER, POINTER = "revisions", "current"
FIRST = 1  # the number of what lies in the folder of the run itself
MARK = "run.json"  # says that a folder is a run's, under which config name it was begun, and in which format
SHARED = "revision"  # key of the number of the revision that has a file

# What belongs to a revision, beside the folders of stages, which have `manifests`: what a run goes on from, and what it
# makes of all that. Everything else in the folder is of the whole run, or not the run's: the log, exports, reports.
TAKEN = frozenset({
    "consent-answers", "consent-lists", "consent-robots", "forgotten", "images", "shards", "shuffled",
    MARK, "config.yaml", "inputs.json", "stages.json", "duplicates.parquet", "against-duplicates.parquet",
    "against-changed.parquet", "images-removed.json",
})  # fmt: skip
RESULTS = frozenset({
    "manifest.json", "index.parquet", "manifests", "look-up", "validated", "map", "training.parquet", "consent-again",
})  # fmt: skip  # and the parts of an index, and the table of its tars: see `is_result`
CARD = frozenset({"README.md", "croissant.json"})  # in a store it lies with the tars that it is of; on a disk in DIR

Place = TypeVar("Place", Path, UPath, Path | UPath)


def is_result(name: str) -> bool:
    """Whether a file or folder of this name is what a revision made, which no other one shares."""
    return name in RESULTS or is_index_name(name) or is_shard_table(name)


def is_place(path: Path | UPath) -> bool:
    """Whether a folder is that of a revision, by its name."""
    return path.parent.name == FOLDER and path.name.isdigit()


def base_of(path: Place) -> Place:
    """The folder that a person names by --output, of itself or of one of its revisions."""
    return path.parent.parent if is_place(path) else path


def number_of(path: Path | UPath) -> int:
    """The number of the revision in a folder of an object store."""
    return int(path.name) if is_place(path) else FIRST


def place_of(base: Place, number: int) -> Place:
    """The folder of a revision in an object store."""
    return base if number == FIRST else base / FOLDER / str(number)


def counterpart(folder: Place, number: int) -> Place:
    """The same folder within another revision. Raises ValueError for a folder that is in no revision."""
    if is_place(folder):
        return place_of(folder.parent.parent, number)
    if folder.parent == folder:
        raise ValueError(f"{folder}: in no revision, so no other one has a file of it")
    return counterpart(folder.parent, number) / folder.name


def file_in(folder: Place, file: Mapping[str, Any]) -> Place:
    """Where a file of a unit lies, by its entry in the unit's manifest; `folder` is the unit's. Raises ValueError."""
    number = file.get(SHARED)
    return (folder if number is None else counterpart(folder, int(number))) / str(file["name"])


def pieces_in(output: Place, noted: Mapping[str, Any]) -> tuple[Place, Mapping[str, Any]]:
    """Where the pieces of a shuffle lie, and its groups, by its note; `output` is its own folder. Raises ValueError."""
    number = noted.get(SHARED)
    if isinstance(number, int):  # a group of this name is an object
        return counterpart(output, number), noted["groups"]
    return output, noted


def shared_pieces(noted: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """The note of a shuffle whose pieces revision `number` has, or the one that it has them from."""
    return noted if isinstance(noted.get(SHARED), int) else {SHARED: number, "groups": noted}
