"""Which files `fetch.sources` names: tars and tables of img2dataset, each with a mark of its state."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from upath import UPath

from obelics_pipeline.core.access import reaching
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.object_version import version_of
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.storage import AT_ONCE, Location, location, names_in, size_of

TAR, TABLE = ".tar", ".parquet"
VALID = "valid are folders, *.tar and *.parquet that img2dataset wrote"

Options = Mapping[str, Mapping[str, Any]]  # of fsspec's file systems, by protocol


@dataclass(frozen=True)
class SourceFile:
    """A file with images by URL: `path` opens it, `name` is the same without secrets.

    `rank` is the place of its pattern in the config: of two images of one URL the first comes first. `version` is only
    compared: it differs when the file changed.
    """

    path: str
    name: str
    rank: int
    version: str


def find_sources(patterns: Sequence[str], options: Options) -> list[SourceFile]:
    """The files that the patterns name, in their order, each once.

    A pattern is a folder, a file or a glob, local or in a store. A tar has its URLs in it, so the table beside it is
    not read. Raises UserError for a pattern that names nothing, or something else.
    """
    ranked: dict[str, tuple[int, Location]] = {}
    for rank, pattern in enumerate(patterns):
        matches = [file for match in _matches(pattern, options) for file in _files(match)]
        if not matches:
            raise UserError(f"fetch.sources {redacted(pattern)}: names no file of images; {VALID}")
        for file in matches:
            ranked.setdefault(str(file), (rank, file))
    tars = {path.removesuffix(TAR) for path in ranked if path.endswith(TAR)}
    wanted = {p: of for p, of in ranked.items() if p.endswith(TAR) or p.removesuffix(TABLE) not in tars}
    with ThreadPoolExecutor(AT_ONCE) as threads:
        versions = threads.map(_version, [file for _, file in wanted.values()])
        return [
            SourceFile(path, str(redacted(path)), rank, version)
            for (path, (rank, _)), version in zip(wanted.items(), versions, strict=True)
        ]


def _matches(pattern: str, options: Options) -> list[Location]:
    where = location(pattern, options)
    if isinstance(where, Path):
        where = where.expanduser()
        if not glob.has_magic(str(where)) or where.exists():
            return [where] if where.exists() else []
        return [Path(match) for match in sorted(glob.glob(str(where), recursive=True))]
    if not glob.has_magic(where.path):
        return [where]
    with reaching(where):
        return [location(where.fs.unstrip_protocol(match), options) for match in sorted(where.fs.glob(where.path))]


def _files(match: Location) -> list[Location]:
    """The file itself, or the tars and tables in a folder."""
    if match.name.endswith((TAR, TABLE)) and (not isinstance(match, Path) or match.is_file()):
        return [match] if isinstance(match, UPath) or size_of(match) is not None else []
    return [match / name for name in names_in(match) if name.endswith((TAR, TABLE))]


def _version(file: Location) -> str:
    if isinstance(file, Path):
        state = file.stat()
        return f"{state.st_size} {state.st_mtime_ns}"
    version = version_of(file) or size_of(file)
    if version is None:
        raise UserError(f"fetch.sources {redacted(str(file))}: no such file; {VALID}")
    return str(version)
