"""Tars in WebDataset's convention, written so that equal documents give equal bytes, and read document by document."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from obelics_pipeline.core.shards.record import BLOCK, Record, RecordFile
from obelics_pipeline.core.shards.webdataset_parts import webdataset_parts

OWNER = "obelics"  # user and group name of every member
MODE = 0o444
CHUNK = 2**20  # bytes read at once when a member is hashed

ReadImage = Callable[[str], bytes]  # the bytes of an image by their sha256


class TarDamaged(Exception):
    """A slice of a tar is not what its index says; the message is what differs."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a document stands in its tar, in bytes; `[offset, offset + length)` reads as a tar of its own."""

    offset: int
    length: int


class ShardWriter:
    """Writes one tar through `webdataset.TarWriter`, a member at a time, so that one image is held in memory.

    Members of a document are adjacent, its JSON first. No clock, user or order of arrival is in the bytes.
    """

    def __init__(self, path: Path) -> None:
        self._stream = path.open("wb")
        self._tar = webdataset_parts().TarWriter(self._stream, OWNER, OWNER, MODE, encoder=False, mtime=0)
        self._keys: set[str] = set()
        self._path = path

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._abandon()

    def add(self, record: Record, read_image: ReadImage) -> Placed:
        """Append a document. Raises ValueError for a repeated key, or other bytes than recorded."""

        def read(file: RecordFile) -> bytes:
            data = read_image(file.sha256)
            if len(data) != file.n_bytes or hashlib.sha256(data).hexdigest() != file.sha256:
                raise ValueError(f"image store: {file.sha256} holds other bytes ({len(data)}, recorded {file.n_bytes})")
            return data

        placed = self.append(record.doc_id, record.members(read))
        if placed.length != record.size:
            raise ValueError(f"{self._path}: {record.doc_id} took {placed.length} bytes, planned {record.size}")
        return placed

    def append(self, key: str, members: Iterable[tuple[str, bytes]]) -> Placed:
        """Append members under a key: names after it, and bytes. Raises ValueError for a repeated key."""
        if key in self._keys:
            raise ValueError(f"{self._path}: document {key} is there already")
        self._keys.add(key)
        offset = self._offset()
        for name, data in members:
            self._member(key, name, data)
        return Placed(offset, self._offset() - offset)

    def close(self) -> None:
        """Finish the tar. Raises ValueError for a tar without a document: readers take it for the end of the data."""
        if not self._keys:
            self._abandon()
            raise ValueError(f"{self._path}: a shard without documents")
        try:
            self._tar.close()
            self._stream.close()
        except OSError:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Close what is open; the tar is not finished, and a full disk must not hide the error that ended it."""
        for close in (self._tar.close, self._stream.close):
            with suppress(OSError):
                close()

    def _member(self, key: str, name: str, data: bytes) -> None:
        self._tar.write({"__key__": key, name: data})
        self._tar.tarstream.members.clear()  # tarfile keeps every header it wrote: memory would grow with the tar

    def _offset(self) -> int:
        return int(self._tar.tarstream.offset)


def shard_size(record_bytes: int) -> int:
    """Bytes of a whole tar whose records take `record_bytes`: two blocks end it, and it is padded to 20 blocks."""
    full = tarfile.RECORDSIZE
    return -(-(record_bytes + 2 * BLOCK) // full) * full


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a tar and how to read it; `stream` is good until the next member is asked for."""

    name: str
    size: int
    stream: IO[bytes]

    def sha256(self) -> str:
        """Hash of its bytes, read in pieces."""
        digest = hashlib.sha256()
        while chunk := self.stream.read(CHUNK):
            digest.update(chunk)
        self.stream.seek(0)
        return digest.hexdigest()


def read_members(shard: IO[bytes], placed: Placed, size: int) -> Iterator[Member]:
    """The members of one document, read from an open tar of `size` bytes by the offsets of the index.

    Raises TarDamaged where the slice is cut, is no tar, or holds anything but plain files that fill it exactly.
    """
    end = placed.offset + placed.length
    if placed.offset < 0 or placed.length <= 0 or placed.offset % BLOCK or end > size:
        raise TarDamaged(f"bytes {placed.offset} to {end} are not within the tar of {size} bytes")
    shard.seek(placed.offset)
    at = placed.offset
    try:
        with tarfile.open(fileobj=shard, mode="r:", errorlevel=0) as tar:
            while at < end:
                info = tar.next()
                if info is None:
                    raise TarDamaged(f"no member at byte {at}, where {end - at} bytes should follow")
                at = _checked(info, at, end)
                yield Member(info.name, info.size, _extract(tar, info))
    except TarDamaged:
        raise
    except Exception as error:  # tarfile meets hostile headers with whatever it stumbles over
        raise TarDamaged(f"no tar member at byte {at}: {type(error).__name__}: {error}") from None


def _checked(info: tarfile.TarInfo, at: int, end: int) -> int:
    """Where the member after this one starts."""
    if info.type != tarfile.REGTYPE or info.offset != at or info.offset_data != at + BLOCK:
        raise TarDamaged(f"member {info.name!a} is no plain file")
    after = info.offset_data + -(-info.size // BLOCK) * BLOCK
    if after > end:
        raise TarDamaged(f"member {info.name!a} reaches beyond its document, to byte {after} of {end}")
    return after


def _extract(tar: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    stream: IO[bytes] | None = tar.extractfile(info)
    assert stream is not None, "a plain file"
    return stream
