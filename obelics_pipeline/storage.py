"""Where a run's files lie: a local folder, or a place in an object store behind fsspec.

A `Place` is used as a path is (`/`, `.name`, `.exists()`, `.open("rb")`, `.iterdir()`, `.unlink()`); what differs between
a disk and an object store is here, and nowhere else. No rename is assumed: an object is visible once it is whole.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

TEMPORARY = ".tmp-"  # prefix of local files that are not whole yet

Place = Path | UPath


def place(text: str, options: Mapping[str, Mapping[str, Any]] | None = None) -> Place:
    """A local path, or a place behind a URL; `options` are those of the fsspec file systems, by protocol."""
    protocol, mark, _ = text.partition("://")
    if not mark or protocol in ("file", "local"):
        return Path(text.removeprefix("file://").removeprefix("local://"))
    settings: dict[str, Any] = {"use_listings_cache": False}  # a cached listing does not show what others wrote
    return UPath(text, **(settings | dict((options or {}).get(protocol, {}))))


def is_local(where: Place) -> bool:
    """Whether a place is on a disk of this machine, or mounted here."""
    return isinstance(where, Path)


@contextmanager
def draft(target: Place) -> Iterator[Path]:
    """A local file to write; when the block ends well it takes the place of `target`, whole. Else it is gone."""
    if is_local(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(str(target.parent))
    else:
        folder = Path(tempfile.gettempdir())
    path = folder / f"{TEMPORARY}{secrets.token_hex(8)}{target.suffix}"
    try:
        yield path
        put(path, target)
    finally:
        path.unlink(missing_ok=True)


def put(path: Path, target: Place) -> None:
    """Move a whole local file to its place. On a disk both must be on one file system."""
    if isinstance(target, Path):
        target.parent.mkdir(parents=True, exist_ok=True)
        sync(path)
        os.replace(path, target)
    else:
        target.fs.put_file(str(path), target.path)
        path.unlink(missing_ok=True)


def create(target: Place, data: bytes) -> bool:
    """Create a file that is not there yet, whole. False where another was first."""
    if not isinstance(target, Path):
        try:
            target.fs.pipe_file(target.path, data, mode="create")
        except FileExistsError:
            return False
        return True
    target.parent.mkdir(parents=True, exist_ok=True)
    path = target.with_name(f"{TEMPORARY}{secrets.token_hex(8)}{target.suffix}")
    try:
        path.write_bytes(data)
        sync(path)
        os.link(path, target)
        return True
    except FileExistsError:
        return False
    finally:
        path.unlink(missing_ok=True)


def size_of(where: Place) -> int | None:
    """Bytes of a file; None where there is none."""
    try:
        return int(where.stat().st_size)
    except FileNotFoundError:
        return None


def read_table(where: Place, columns: Sequence[str] | None = None) -> pa.Table:
    """A whole Parquet file. Raises OSError or pa.ArrowException."""
    if isinstance(where, Path):
        return pq.read_table(where, columns=columns)
    return pq.read_table(where.path, columns=columns, filesystem=where.fs)


def write_table(table: pa.Table, where: Place) -> None:
    """Write a Parquet file, whole or not at all."""
    with draft(where) as path:
        pq.write_table(table, path, compression="zstd")


def remove_tree(where: Place) -> None:
    """Remove a folder and all that is in it, if it is there."""
    if isinstance(where, Path):
        shutil.rmtree(where, ignore_errors=True)
    elif where.exists():
        where.fs.rm(where.path, recursive=True)


def sync(path: Path) -> None:
    """Bring a local file to the disk itself."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
