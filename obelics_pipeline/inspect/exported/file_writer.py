"""One file of an export: written, read back, and found again by a command that goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.shards.run_index import PartBounds, read_spans
from obelics_pipeline.core.shards.source import StoredDocument, documents_of
from obelics_pipeline.core.storage import Location, draft, file_sha256
from obelics_pipeline.core.unit import digest
from obelics_pipeline.inspect.exported.format import ExportedFile, Format
from obelics_pipeline.inspect.published.parts import Part
from obelics_pipeline.inspect.published.standing_files import StandingFiles


@dataclass(frozen=True)
class FileWriter:
    """Writes files of one export. `made_of` stands for the run, so that a file of another is not taken for one.

    `known` are the files of an earlier export. What is written is noted in `notes`, for a command that goes on.
    """

    format: Format
    folder: Location  # of the run's revision
    bounds: PartBounds  # of its index
    output: Location
    notes: Location
    made_of: str
    known: Sequence[ExportedFile] = ()

    def __call__(self, part: Part) -> ExportedFile:
        """Write a file and count what is in it, or find it written and whole.

        Equal runs give equal bytes. Raises UserError where the run is damaged, and Stopped where the file that was
        written holds other documents than were given.
        """
        made_of = digest(self.made_of, part.start, part.stop)
        files = StandingFiles(ExportedFile, self.output, self.notes, self.known)
        if before := files.find(part.name, made_of):
            return before
        with draft(self.output / part.name) as path:
            self._write(path, part)
            size = path.stat().st_size
            written = ExportedFile(part.name, file_sha256(path), size, self._counted(path, part), made_of)
        files.note(written)
        return written

    def _write(self, path: Path, part: Part) -> None:
        try:
            self.format.write(path, stored_documents(self.folder, self.bounds, part))
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


def stored_documents(folder: Location, bounds: PartBounds, part: Part) -> Iterator[StoredDocument]:
    """The documents of a part, in their order. Raises UserError where the run is damaged."""
    yield from documents_of(folder, read_spans(folder, bounds.spans(part.start, part.stop)))
