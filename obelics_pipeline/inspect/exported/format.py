"""What a format of exported files consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.shards.source import StoredDocument
from obelics_pipeline.core.storage import Location

TARGET_BYTES = 256 * 2**20  # of a file: as large as the tars of a run


@dataclass(frozen=True)
class ExportedFile:
    """A file that was written: its name, hash, size in bytes, and documents; `made_of` stands for what is in it."""

    name: str
    sha256: str
    bytes: int
    documents: int
    made_of: str


@dataclass(frozen=True)
class Format:
    """Files of one kind, and what lies beside them.

    `file` is the name of a file with `{number}`, from 0, in it. `write` writes documents into a file; it raises
    KeyError or TypeError for a record that is not one of a run. `count` reads a file again and returns how many
    documents it holds; it raises ValueError where the file is not what `write` makes. `beside` are small files by their
    names; they are written after all others. `opens` is how the folder is opened, for a person.
    """

    name: str
    file: str
    write: Callable[[Path, Iterator[StoredDocument]], None]
    count: Callable[[Path], int]
    beside: Callable[[Sequence[ExportedFile]], Mapping[str, bytes]]
    opens: Callable[[Location], str]
    target_bytes: int = TARGET_BYTES


def nothing_beside(_: Sequence[ExportedFile]) -> Mapping[str, bytes]:
    """The `beside` of a format whose files stand alone."""
    return {}
