"""Input and output: whether they are there, can be reached, and do what a run asks of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from obelics_pipeline.core.commit import recall
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.revision_place import MARK
from obelics_pipeline.core.storage import Location, create, location, names_in, read_bytes, remove, size_of
from obelics_pipeline.inspect.check.finding import Finding, gigabytes
from obelics_pipeline.inspect.check.locks import lock_findings
from obelics_pipeline.inspect.check.machine import existing
from obelics_pipeline.stages.read.inputs import Inputs, resolve_inputs

PROBE = b"obelics check was here\n"


def find_inputs(patterns: Sequence[str], config: ReadingConfig) -> tuple[Inputs | None, list[Finding]]:
    """All files that the patterns name; or, of each pattern that names none, why."""
    found = list[Finding]()
    for pattern in patterns:
        try:
            resolve_inputs([pattern], config)
        except (UserError, Stopped, OSError) as error:
            found.append(Finding("input", "missing", _line(error)))
    if found:
        return None, found
    try:
        inputs = resolve_inputs(patterns, config)
    except (UserError, Stopped, OSError) as error:  # two that are fine alone may have one name
        return None, [Finding("input", "missing", _line(error))]
    size = sum(source.size for source in inputs.warcs)
    rows = sum(table.rows for table in inputs.pointers)
    parts = [f"{len(inputs.warcs):,} WARC files, {gigabytes(size)}"] if inputs.warcs else []
    parts += [f"{len(inputs.pointers):,} tables of {rows:,} pointers"] if inputs.pointers else []
    documents = sum(file.size for file in inputs.rows)
    parts += [f"{len(inputs.rows):,} files of documents, {gigabytes(documents)}"] if inputs.rows else []
    return inputs, [Finding("input", "ok", "; ".join(parts))]


def output_findings(output: str, name: str, config: RunConfig) -> tuple[Location | None, list[Finding]]:
    """Write, lock and remove a small file at the output, and see whose folder it is."""
    try:
        where = location(output, config.reading.storage_options)
        whose = list(_owner(where, name)) or [Finding("output", "ok", f"{where} is writable")]
        locks = list(_probe(where))
    except (UserError, Stopped, OSError) as error:
        line = _line(error)
        return None, [Finding("output", "missing", line if output in line else f"{output}: {line}")]
    return where, whose + locks


def _owner(where: Location, name: str) -> Iterator[Finding]:
    """The finding on an output folder that is not empty."""
    mark = where / MARK
    if size_of(mark) is not None:
        try:
            begun = recall(mark)["config"]
        except (ValueError, KeyError, TypeError):
            yield Finding("output", "missing", f"{mark} is damaged; remove it to continue, or give another folder")
            return
        if begun == name:
            yield Finding("output", "ok", f"{where} holds a run of this config, which will continue")
        else:
            told = (
                f"{where} holds the output of config {begun}, not of {name}; give another folder, or run with --force"
            )
            yield Finding("output", "missing", told)
    else:
        strangers = [found for found in names_in(where) if not found.startswith(".")]
        if strangers and size_of(where / "config.yaml") is None:
            told = f"{where} is not empty and not the output of a run (it holds {strangers[0]}); give a new folder"
            yield Finding("output", "missing", told)


def _probe(where: Location) -> Iterator[Finding]:
    """Create a small file, once; a second time must fail, or two workers could commit the same unit. Lock it.

    Raises what storage raises, and UserError for a store that ignores the condition. Folders that are made for it go.
    """
    made = _make(where) if isinstance(where, Path) else []
    probe = where / f".check-{secrets.token_hex(8)}"
    try:
        create(probe, PROBE)
        if create(probe, PROBE):
            raise UserError(
                f"{where}: the store ignores conditional puts (if-none-match), without which no run is safe"
            )
        if read_bytes(probe) != PROBE:
            raise UserError(f"{where}: does not give back what was written")
        if isinstance(probe, Path):
            yield from lock_findings(probe)
    finally:
        with suppress(OSError, Stopped):
            remove([probe])
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()


def _make(folder: Path) -> list[Path]:
    """Make a folder and those above it; which were made, the uppermost first."""
    first = existing(folder)
    missing = [path for path in (folder.absolute(), *folder.absolute().parents) if path.is_relative_to(first)]
    missing = [path for path in missing if path != first][::-1]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())
