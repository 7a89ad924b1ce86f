"""Where the lines of a list come from: a file, a folder of categories, or an archive of such a folder.

Nothing is unpacked to the disk, and everything is bounded: a list was written by somebody else.
"""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO, cast

from obelics_pipeline.blocklists.entry import MAX_LINE
from obelics_pipeline.errors import UserError

MAX_BYTES = 4 * 2**30  # of a list, unpacked: the largest that are published have a tenth
MAX_MEMBERS = 100_000  # of an archive
FILES = ("domains", "urls")  # of a category, as UT1 has them
_CHUNK = 2**20
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


class Source:
    """The content of a list. Raises UserError, in one line, for what is no list or is not there."""

    def __init__(self, path: Path, categories: Sequence[str] | None = None, name: str = "") -> None:
        """`name` is how the list is called in what is said of it: a cached file has another name than its list."""
        self._path, self._categories = path, categories
        self._name = name or str(path)
        if not path.exists():
            raise UserError(f"blocklist {self._name}: no such file or folder")
        if categories is not None and not (path.is_dir() or self._is_tar()):
            raise UserError(f"blocklist {self._name}: is one file and has no categories; leave out `categories`")

    def sha256(self) -> str:
        """The checksum of the file, or of the lines `sha256  category/file` of a folder, as sha256sum writes them."""
        try:
            if not self._path.is_dir():
                stat = self._path.stat()
                return _sha256_of(self._path, stat.st_size, stat.st_mtime_ns)
            lines = []
            for path in self._files():
                stat = path.stat()
                relative = path.relative_to(self._path).as_posix()
                lines.append(f"{_sha256_of(path, stat.st_size, stat.st_mtime_ns)}  {relative}\n")
            return hashlib.sha256("".join(lines).encode()).hexdigest()
        except OSError as error:
            raise self._unreadable(error) from None

    def lines(self) -> Iterator[bytes]:
        """Its lines, at most MAX_LINE bytes of each."""
        try:
            if self._path.is_dir():
                for path in self._files():
                    with path.open("rb") as file:
                        yield from _bounded(file, self._name)
            elif self._is_tar():
                yield from self._lines_of_archive()
            else:
                with _opened(self._path) as file:
                    yield from _bounded(file, self._name)
        except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> UserError:
        return UserError(f"blocklist {self._name}: cannot be read ({type(error).__name__}: {error})")

    def _is_tar(self) -> bool:
        name = self._name.lower().split("?")[0]
        return name.endswith(_TAR) or self._path.name.lower().endswith(_TAR)

    def _files(self) -> list[Path]:
        """The files of the categories of a folder, sorted."""
        root = self._path.resolve()
        found: dict[str, list[Path]] = {}
        for name in FILES:
            for path in sorted(self._path.glob(f"*/{name}")):
                if path.is_file() and path.resolve().is_relative_to(root):  # no link leads out of the folder
                    found.setdefault(path.parent.name, []).append(path)
        chosen = self._chosen(found)
        return sorted(path for category in chosen for path in found[category])

    def _lines_of_archive(self) -> Iterator[bytes]:
        with tarfile.open(self._path, "r:*") as archive:
            members: dict[str, list[tarfile.TarInfo]] = {}
            links: dict[str, str] = {}
            for number, member in enumerate(archive):
                if number >= MAX_MEMBERS:
                    raise UserError(f"blocklist {self._name}: has more than {MAX_MEMBERS:,} members, and is no list")
                parts = [part for part in member.name.split("/") if part not in ("", ".")]
                if member.isreg() and len(parts) > 1 and parts[-1] in FILES:
                    members.setdefault(parts[-2], []).append(member)
                elif member.issym() and parts:  # UT1 gives some categories a second name
                    links[parts[-1]] = member.linkname.rstrip("/").rpartition("/")[2]
            for link, to in links.items():
                if to in members:
                    members.setdefault(link, members[to])
            wanted = {m.name: m for category in self._chosen(members) for m in members[category]}
            read = 0
            for member in sorted(wanted.values(), key=lambda m: m.offset_data):
                read += member.size
                if read > MAX_BYTES:
                    raise _too_large(self._name)
                file = archive.extractfile(member)
                if file is not None:
                    yield from _bounded(file, self._name)

    def _chosen(self, found: Iterable[str]) -> list[str]:
        there = sorted(found)
        if not there:
            raise UserError(f"blocklist {self._name}: has no category/domains nor category/urls")
        missing = [name for name in self._categories or () if name not in there]
        if missing:
            raise UserError(
                f"blocklist {self._name}: has no category {missing[0]}; valid: {', '.join(there[:60])}"
                + (f" and {len(there) - 60} more" if len(there) > 60 else "")
            )
        return sorted(self._categories) if self._categories is not None else there


@cache
def _sha256_of(path: Path, size: int, changed: int) -> str:
    """Hashed once for each state of a file."""
    del size, changed
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")


def _bounded(file: IO[bytes], name: str) -> Iterator[bytes]:
    """The lines of a file, a chunk at a time, whatever their length."""
    rest, read, within = b"", 0, False
    while chunk := file.read(_CHUNK):
        read += len(chunk)
        if read > MAX_BYTES:
            raise _too_large(name)
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        if within and lines:  # the end of a line that was given up
            lines[0], within = b"", False
        yield from lines
        if len(rest) > MAX_LINE:
            if not within:
                yield rest[: MAX_LINE + 1]
            rest, within = b"", True
        elif within:
            rest = b""
    if rest and not within:
        yield rest


def _too_large(name: str) -> UserError:
    return UserError(f"blocklist {name}: unpacks to more than {MAX_BYTES / 2**30:.0f} GB, and is no list")
