"""`obelics export` into files of a format of `formats`: written by several processes, each file read back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.manifest import FILE, RunManifest, read_manifest
from obelics_pipeline.core.shards.run_index import PartBounds
from obelics_pipeline.core.storage import (
    TEMPORARY,
    Location,
    names_in,
    read_bytes,
    remove,
    remove_tree,
    size_of,
    write_bytes,
)
from obelics_pipeline.core.unit import digest
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.inspect.exported.file_writer import FileWriter
from obelics_pipeline.inspect.exported.format import ExportedFile, Format
from obelics_pipeline.inspect.published.parts import Part, parts_of

LIST = "_exported.json"  # the files with their hashes, written last; readers of a folder of Parquet skip such a name
NOTES = ".exporting"  # what is written of an export that is not finished
LIST_FORMAT = "obelics-exported-1"  # of LIST and of the files; part of what a file says it was made of
PART_SECONDS = 3600.0  # a file that takes longer is tried again


@dataclass(frozen=True)
class ExportedFolder:
    """What was written: the folder, and its files in the order of the documents."""

    format: Format
    output: Location
    files: Sequence[ExportedFile]

    def lines(self) -> list[str]:
        """For a person: what there is, as it was read back, and how it is opened."""
        documents, size = sum(file.documents for file in self.files), sum(file.bytes for file in self.files)
        files = f"{len(self.files)} file{'s' if len(self.files) > 1 else ''}"
        return [
            f"wrote {documents:,} documents in {files} of {self.format.name} ({size:,} bytes) to {self.output}",
            self.format.opens(self.output),
        ]


def export_files(
    folder: Location, output: Location, format: Format, shards: int = 1, workers: int | None = None
) -> ExportedFolder:
    """Write the documents of a run as files of a format, at least `shards` of them, in the order of the run.

    `workers` processes of this machine write, one per CPU core by default. Each file appears whole or not at all, is
    read back and counted; the list of files is written last, so that a folder that has it is whole. A command that was
    stopped goes on with the files that are there. Equal runs give equal bytes. Raises UserError for a folder that is no
    finished run or is damaged, for one with too few documents, and where the output holds other files.
    """
    manifest = read_manifest(folder)
    counts = manifest.counts()
    if counts["documents"] < shards:
        raise UserError(f"--shards {shards}: {folder} has {counts['documents']} documents, and no file may be empty")
    refuse_strangers(folder, output, format)
    known = _listed(output)
    remove([output / LIST, *(output / name for name in format.beside([]))])
    made_of = digest(LIST_FORMAT, format.name, manifest.index_id())
    writer = FileWriter(format, folder, PartBounds.of(manifest), output, output / NOTES, made_of, known)
    count = workers or os.cpu_count() or 1
    with TemporaryDirectory(prefix=TEMPORARY) as scratch, LocalEngine(count, Path(scratch), PART_SECONDS) as engine:
        files = list(engine.map(writer, _parts(manifest, format, shards)))
    ours, written = _names(format), {file.name for file in files}
    remove(output / name for name in names_in(output) if ours.fullmatch(name) and name not in written)
    for name, data in format.beside(files).items():
        write_bytes(output / name, data)
    listed = {"format": LIST_FORMAT, "name": format.name, "files": [asdict(file) for file in files]}
    write_bytes(output / LIST, (json.dumps(listed, indent=1) + "\n").encode())
    remove_tree(output / NOTES)
    return ExportedFolder(format, output, files)


def refuse_strangers(folder: Location, output: Location, format: Format) -> None:
    """Raise UserError where the output is the run's folder, or holds a file that an export in this format does not."""
    if output == folder or size_of(output / FILE) is not None:
        raise UserError(f"--output {output}: is a run; give an empty or new folder")
    beside, ours = {LIST, *format.beside([])}, _names(format)
    names = [name for name in names_in(output) if TEMPORARY not in name]
    strangers = [name for name in names if name not in beside and not ours.fullmatch(name)]
    if not strangers and LIST in names and _stated(output).get("name") != format.name:
        strangers = [LIST]
    if strangers:
        what = f"{strangers[0]}, which --format {format.name} did not write"
        raise UserError(f"--output {output}: holds {what}; give an empty or new folder")


def _parts(manifest: RunManifest, format: Format, shards: int) -> list[Part]:
    """The documents of each file: about equal bytes, or, where that gives too few files, equal counts of documents."""
    counts = manifest.counts()
    parts = parts_of(manifest.shards, min(format.target_bytes, -(-counts["bytes"] // shards)))
    if len(parts) < shards:
        cuts = [counts["documents"] * i // shards for i in range(shards + 1)]
        parts = [Part("", start, stop) for start, stop in pairwise(cuts)]
    return [replace(part, name=format.file.format(number=i)) for i, part in enumerate(parts)]


def _names(format: Format) -> re.Pattern[str]:
    before, after = re.split(r"\{number[^}]*\}", format.file)
    return re.compile(rf"{re.escape(before)}\d+{re.escape(after)}")


def _listed(output: Location) -> list[ExportedFile]:
    """The files that the export there lists; empty where its list is missing or cannot be read."""
    try:
        return [ExportedFile(**entry) for entry in _stated(output)["files"]]
    except (TypeError, KeyError):
        return []


def _stated(output: Location) -> dict[str, Any]:
    try:
        value = json.loads(read_bytes(output / LIST))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
