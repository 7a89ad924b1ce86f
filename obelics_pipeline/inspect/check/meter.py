"""A folder on this machine that counts what an object store would be asked, so that requests are measured, not guessed.

`metered:///tmp/x` is the folder /tmp/x. A run that works there takes the same steps as in an object store: each call
that storage.py makes is one request of the kind that stores charge for. Every process counts its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem
from upath import UPath
from upath.registry import register_implementation

from obelics_pipeline.core.storage import Location, location

PROTOCOL = "metered"
LISTED = 1000  # objects that one LIST request returns (S3 ListObjectsV2: up to 1,000)


@dataclass
class Traffic:
    """Requests to a store and the bytes of bodies. Stores charge for a PUT, a LIST alike; for a GET, a HEAD alike."""

    puts: int = 0
    gets: int = 0
    read: int = 0  # bytes
    written: int = 0  # bytes
    missed: int = 0  # of the GETs: what was asked for was not there

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: Traffic) -> Traffic:
        return Traffic(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))


@dataclass
class _Meter:
    """Counts the requests of this process. A request that is part of another one does not count."""

    total: Traffic = field(default_factory=Traffic)
    lock: threading.Lock = field(default_factory=threading.Lock)
    within: threading.local = field(default_factory=threading.local)

    @contextmanager
    def request(self) -> Iterator[Traffic]:
        asked, outermost = Traffic(), not getattr(self.within, "busy", False)
        self.within.busy = True
        try:
            yield asked
        except FileNotFoundError:
            asked.missed = asked.gets
            raise
        finally:
            if outermost:
                self.within.busy = False
                with self.lock:
                    self.total = self.total + asked


_meter = _Meter()


def so_far() -> Traffic:
    """The requests of this process to metered folders since it began."""
    return _meter.total


def metered(folder: Path) -> Location:
    """A local folder, as a place in a store that counts."""
    return location(f"{PROTOCOL}://{folder}")


class MeteredFileSystem(LocalFileSystem):  # type: ignore[misc]
    """The local file system as an object store: puts are whole or conditional, and folders need no making."""

    protocol = PROTOCOL
    cachable = True

    def __init__(self, **options: Any) -> None:
        super().__init__(auto_mkdir=True, **options)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        return LocalFileSystem._strip_protocol(str(path).removeprefix(f"{PROTOCOL}://"))

    def unstrip_protocol(self, name: str) -> str:
        """The whole URL of a path."""
        return f"{PROTOCOL}://{self._strip_protocol(name)}"

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        """Put bytes. Raises FileExistsError where `mode` is create and something is there."""
        with _meter.request() as asked:
            asked.puts += 1
            target = Path(self._strip_protocol(path))
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb" if mode == "create" else "wb") as stream:
                stream.write(value)
            asked.written += len(value)

    def put_file(self, path1: str, path2: str, callback: Any = None, mode: str = "overwrite", **_: Any) -> None:
        """Put a local file."""
        self.pipe_file(path2, Path(path1).read_bytes(), mode)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        """Get a file or a range of it; a `start` below zero is counted from its end."""
        with _meter.request() as asked:
            asked.gets += 1
            with Path(self._strip_protocol(path)).open("rb") as stream:
                first = start or 0
                if first < 0:
                    first = max(0, stream.seek(0, os.SEEK_END) + first)
                stream.seek(first)
                data = stream.read(-1 if end is None else end - first)
            asked.read += len(data)
        return data

    def _open(self, path: str, mode: str = "rb", block_size: int | None = None, **options: Any) -> Any:
        """Open a file; one that is read counts as a whole, since clients read ahead by more than such files have."""
        with _meter.request() as asked:
            if "r" in mode:
                asked.gets += 1
                asked.read += Path(self._strip_protocol(path)).stat().st_size
            else:
                asked.puts += 1
        return super()._open(path, mode, block_size, **options)

    def info(self, path: Any, **options: Any) -> dict[str, Any]:
        """The answer to a HEAD request."""
        with _meter.request() as asked:
            asked.gets += 1
            found: dict[str, Any] = super().info(path, **options)
        return found

    def find(self, path: str, *arguments: Any, **options: Any) -> Any:
        """List what is below a folder."""
        with _meter.request() as asked:
            found = super().find(path, *arguments, **options)
            asked.puts += len(found) // LISTED + 1
        return found

    def ls(self, path: str, detail: bool = False, **options: Any) -> Any:
        """List a folder."""
        with _meter.request() as asked:
            found = super().ls(path, detail=detail, **options)
            asked.puts += len(found) // LISTED + 1
        return found

    def rm_file(self, path: str) -> None:
        """Remove a file: stores charge nothing for that."""
        with _meter.request():
            super().rm_file(path)


class MeteredPath(UPath):
    """A place in a metered folder. A process that unpickles one imports this module, and so knows the protocol."""

    __slots__ = ()


fsspec.register_implementation(PROTOCOL, MeteredFileSystem, clobber=True)
register_implementation(PROTOCOL, MeteredPath, clobber=True)
