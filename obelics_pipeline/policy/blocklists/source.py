"""Where the lines of a list come from: a file, a folder of categories, or an archive of such a folder.

Nothing is unpacked to the disk, and everything is bounded: a list was written by somebody else.
"""

from __future__ import annotations

import hashlib
import lzma
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import PIECE, pieces
from obelics_pipeline.policy.blocklists.entry import MAX_LINE
from obelics_pipeline.policy.lists.lines import read_lines

MAX_BYTES = 4 * 2**30  # of a list, unpacked: the largest that are published have a tenth
MAX_MEMBERS = 100_000  # of an archive
FILES = ("domains", "urls")  # of a category, as UT1 has them


class ListSource:
    """The content of a list. Raises UserError, in one line, for a file that is missing or is not a list."""

    def __init__(self, path: Path, categories: Sequence[str] | None = None, name: str = "") -> None:
        """`name` is how the list is called in what is said of it: a cached file has another name than its list."""
        self._path, self._categories = path, categories
        self._said = f"blocklist {name or path}"
        if not path.exists():
            raise UserError(f"{self._said}: no such file or folder")
        self._is_tar = path.is_file() and tarfile.is_tarfile(path)
        if categories is not None and path.is_file() and not self._is_tar:
            raise UserError(f"{self._said}: is one file and has no categories; leave out `categories`")

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

    def lines(self) -> Iterator[bytes | None]:
        """Its lines; None for one of more than MAX_LINE bytes."""
        if self._is_tar:
            try:
                yield from self._lines_of_archive()
            except (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError) as error:
                raise self._unreadable(error) from None
        else:
            for path in self._files() if self._path.is_dir() else [self._path]:
                yield from self._lines_of(pieces(path))

    def _lines_of(self, content: Iterable[bytes]) -> Iterator[bytes | None]:
        return read_lines(content, self._said, MAX_BYTES, MAX_LINE)

    def _unreadable(self, error: Exception) -> UserError:
        return UserError(f"{self._said}: cannot be read ({type(error).__name__}: {error})")

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

    def _lines_of_archive(self) -> Iterator[bytes | None]:
        with tarfile.open(self._path, "r:*") as archive:
            members: dict[str, list[tarfile.TarInfo]] = {}
            links: dict[str, str] = {}
            for number, member in enumerate(archive):
                if number >= MAX_MEMBERS:
                    raise UserError(f"{self._said}: has more than {MAX_MEMBERS:,} members, and is no list")
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
                    raise UserError(f"{self._said}: has more than {MAX_BYTES:,} bytes, unpacked; is it the right file?")
                file = archive.extractfile(member)
                if file is not None:
                    yield from self._lines_of(_pieces_of(file))

    def _chosen(self, found: Iterable[str]) -> list[str]:
        there = sorted(found)
        if not there:
            raise UserError(f"{self._said}: has no category/domains nor category/urls")
        missing = [name for name in self._categories or () if name not in there]
        if missing:
            raise UserError(
                f"{self._said}: has no category {missing[0]}; valid: {', '.join(there[:60])}"
                + (f" and {len(there) - 60} more" if len(there) > 60 else "")
            )
        return sorted(self._categories) if self._categories is not None else there


@cache
def _sha256_of(path: Path, size: int, changed: int) -> str:
    """Hashed once for each state of a file."""
    del size, changed
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(PIECE), b"")
