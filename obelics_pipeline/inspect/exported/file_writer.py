"""One file of an export: written, read back, and found again by a command that goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.shards.index import read_span
from obelics_pipeline.core.shards.manifest import INDEX
from obelics_pipeline.core.shards.source import StoredDocument, documents_of
from obelics_pipeline.core.storage import Location, draft, file_sha256, read_bytes, write_bytes
from obelics_pipeline.core.unit import digest
from obelics_pipeline.inspect.exported.format import ExportedFile, Format
from obelics_pipeline.inspect.published.parts import Part


@dataclass(frozen=True)
class FileWriter:
    """Writes files of one export. `made_of` stands for the run, so that a file of another is not taken for one.

    `known` are the files of an earlier export. What is written is noted in `notes`, for a command that goes on.
    """

    format: Format
    folder: Location  # of the run's revision
    output: Location
    notes: Location
    made_of: str
    known: Sequence[ExportedFile] = ()

    def __call__(self, part: Part) -> ExportedFile:
        """Write a file and count what is in it, or find it written and whole.

        Equal runs give equal bytes. Raises UserError where the run is damaged, and Stopped where the file that was
        written holds other documents than were given.
        """
        target, made_of = self.output / part.name, digest(self.made_of, part.start, part.stop)
        for before in (self._noted(part), *self.known):
            if before and (before.name, before.made_of) == (part.name, made_of) and _holds(target, before.sha256):
                return before
        with draft(target) as path:
            self._write(path, part)
            size = path.stat().st_size
            written = ExportedFile(part.name, file_sha256(path), size, self._counted(path, part), made_of)
        write_bytes(self.notes / f"{part.name}.json", json.dumps(asdict(written)).encode())
        return written

    def _write(self, path: Path, part: Part) -> None:
        try:
            self.format.write(path, stored_documents(self.folder, part))
        except (KeyError, TypeError) as error:
            where = f"{self.folder}: a document of rows {part.start} to {part.stop} of its index"
            raise UserError(f"{where} is not a record of a run ({error}); see obelics validate") from None

    def _counted(self, path: Path, part: Part) -> int:
        advice = "run the same command again; if it fails again, the disk is at fault"
        try:
            count = self.format.count(path)
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            raise Stopped(f"{self.output / part.name}: cannot be read back ({error}); {advice}") from None
        if count != part.stop - part.start:
            raise Stopped(
                f"{self.output / part.name}: holds {count} documents, {part.stop - part.start} were written; {advice}"
            )
        return count

    def _noted(self, part: Part) -> ExportedFile | None:
        try:
            return ExportedFile(**json.loads(read_bytes(self.notes / f"{part.name}.json")))
        except (OSError, ValueError, TypeError):
            return None


def stored_documents(folder: Location, part: Part) -> Iterator[StoredDocument]:
    """The documents of a part, in their order. Raises UserError where the run is damaged."""
    index = folder / INDEX
    try:
        rows = read_span(index, part.start, part.stop)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{index}: cannot be read ({error}); obelics validate {folder} says more") from None
    yield from documents_of(folder, rows)


def _holds(target: Location, sha256: str) -> bool:
    """Whether a file is there with this content."""
    try:
        return file_sha256(target) == sha256
    except OSError:
        return False
