"""Files of a publication or an export that are there already: a command that goes on finds them by notes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from obelics_pipeline.core.storage import Location, file_sha256, read_bytes, write_bytes


class NotedFile(Protocol):
    """A dataclass about a file that was written."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """In its folder."""

    @property
    def sha256(self) -> str:
        """Of its bytes."""

    @property
    def made_of(self) -> str:
        """Stands for what is in it."""


File = TypeVar("File", bound=NotedFile)


@dataclass(frozen=True)
class StandingFiles(Generic[File]):
    """Files in `output`, each noted in `notes` as a `kind`; `known` are those of an earlier list."""

    kind: type[File]
    output: Location
    notes: Location
    known: Sequence[File] = ()

    def find(self, name: str, made_of: str) -> File | None:
        """What is noted or known of a file, where it is there as it was written; None where it must be made."""
        for before in (self._noted(name), *self.known):
            if before and (before.name, before.made_of) == (name, made_of) and self._holds(before):
                return before
        return None

    def note(self, written: File) -> None:
        """Note a file that has its place."""
        write_bytes(self.notes / f"{written.name}.json", json.dumps(asdict(written)).encode())

    def _noted(self, name: str) -> File | None:
        try:
            return self.kind(**json.loads(read_bytes(self.notes / f"{name}.json")))
        except (OSError, ValueError, TypeError):
            return None

    def _holds(self, file: File) -> bool:
        try:
            return file_sha256(self.output / file.name) == file.sha256
        except OSError:
            return False
