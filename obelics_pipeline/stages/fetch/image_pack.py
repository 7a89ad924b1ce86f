"""Packs: files of many images, one after another; each image is found by its offset and length, and held to its sha256.

A pack lies at `LABEL/DIGEST.pack` in the folder of images: the label of the unit that wrote it, and the digest of its
rows (sha256 and bytes of each image, in order). Its index is in the results of fetch units, by URL. What is
forgotten in a pack becomes zeros, so that everything else stays where it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import IO

from obelics_pipeline.core.storage import (
    Location,
    draft,
    draft_for,
    pieces,
    put,
    read_bytes_at,
    remove,
    size_of,
    sync,
)

ENDING = ".pack"
TARGET = 256 * 2**20  # bytes: a pack that has as many is closed; some ten requests put it, and hold some 10,000 images
GAP = 128 * 2**10  # bytes between two images that are read along: they take 1 ms, a request 20
LARGEST = 8 * 2**20  # bytes that are asked for at once, unless one image is larger


_NAME = re.compile(r"[\w-]+/[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an image is: the name of its pack, without the ending, and bytes there."""

    pack: str
    offset: int
    length: int

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Span:
    """Places of one pack that are read by one request, in order."""

    places: tuple[Place, ...]

    def read(self, folder: Location) -> Iterator[tuple[Place, bytes]]:
        """The bytes at each place, fewer where the pack ends before. Raises FileNotFoundError."""
        start, end = self.places[0].offset, max(place.end for place in self.places)
        content = read_bytes_at(pack_path(folder, self.places[0].pack), start, end - start)
        for place in self.places:
            yield place, content[place.offset - start : place.end - start]


def pack_path(folder: Location, pack: str) -> Location:
    """Where a pack lies; `folder` is that of the images. Raises ValueError for what is no name of a pack."""
    if not _NAME.fullmatch(pack):
        raise ValueError(f"not a pack: {pack[:80]!r}")
    return folder / f"{pack}{ENDING}"


def spans_of(places: Iterable[Place]) -> list[Span]:
    """Distinct places, joined where they lie near each other in a pack: at most half of what is read is not wanted."""
    spans: list[list[Place]] = []
    wanted = 0
    for place in sorted(set(places), key=lambda place: (place.pack, place.offset, place.length)):
        joined = spans[-1] if spans else []
        if joined and _is_near(joined, place, wanted):
            joined.append(place)
            wanted += place.length
        else:
            spans.append([place])
            wanted = place.length
    return [Span(tuple(joined)) for joined in spans]


def _is_near(joined: list[Place], place: Place, wanted: int) -> bool:
    first, last = joined[0], joined[-1]
    size = place.end - first.offset
    near = first.pack == place.pack and 0 <= place.offset - last.end <= GAP
    return near and size <= LARGEST and size <= 2 * (wanted + place.length)


class PackWriter:
    """Writes images to packs, as a stream: one image is held in memory, and one pack on this machine.

    A context manager. A pack is put whole, over an equal one. `places` says where images are; each is written once.
    """

    def __init__(self, folder: Location, label: str, target: int = TARGET) -> None:
        self.places: dict[str, Place] = {}
        self._folder, self._label, self._target = folder, label, target
        self._path: Path | None = None
        self._stream: IO[bytes] | None = None
        self._rows: list[tuple[str, int]] = []
        self._written: set[str] = set()
        self._size = 0

    def __enter__(self) -> PackWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        try:
            if kind is None:
                self._finish()
                self._sync()
        finally:
            if self._stream is not None:
                self._stream.close()
            if self._path is not None:
                self._path.unlink(missing_ok=True)

    def add(self, sha256: str, content: bytes) -> None:
        """Append an image, unless it was."""
        if sha256 in self._written:
            return
        if self._stream is None:
            self._path = draft_for(self._folder / self._label, ENDING)
            self._stream = self._path.open("wb")
        self._stream.write(content)
        self._written.add(sha256)
        self._rows.append((sha256, len(content)))
        self._size += len(content)
        if self._size >= self._target:
            self._finish()

    def _finish(self) -> None:
        """Close the pack and put it under its name."""
        if self._stream is None or self._path is None:
            return
        self._stream.close()
        pack = f"{self._label}/{_digest(self._rows)}"
        put(self._path, pack_path(self._folder, pack))
        offset = 0
        for sha256, length in self._rows:
            self.places[sha256] = Place(pack, offset, length)
            offset += length
        self._stream, self._path, self._rows, self._size = None, None, [], 0

    def _sync(self) -> None:
        """On a disk: bring the names to it, before a unit that names them is committed."""
        if self.places and isinstance(self._folder, Path):
            sync(self._folder / self._label)
            sync(self._folder)


def _digest(rows: Iterable[tuple[str, int]]) -> str:
    """32 hexadecimal digits over the index of a pack."""
    return hashlib.sha256("".join(f"{sha256} {length}\n" for sha256, length in rows).encode()).hexdigest()[:32]


def is_at(place: Place, content: bytes, sha256: str) -> bool:
    """Whether these are the bytes of the image that stands there."""
    return len(content) == place.length and hashlib.sha256(content).hexdigest() == sha256


def keep_only(folder: Location, pack: str, places: Collection[Place]) -> int:
    """Make zeros of what is in a pack beside these places; the pack is removed where there are none.

    Returns how many bytes were gone before by this. Done twice, it does the same as once.
    """
    where = pack_path(folder, pack)
    size = size_of(where)
    if size is None:
        return 0
    if not places:
        remove([where])
        return size
    gaps = [gap for gap in _gaps(places, size) if not _is_blank(where, *gap)]
    if gaps:
        _overwrite(where, ((start, bytes(end - start)) for start, end in gaps))
    return sum(end - start for start, end in gaps)


def _gaps(places: Iterable[Place], size: int) -> Iterator[tuple[int, int]]:
    """The ranges of a pack in which none of the places is, no longer than what is read at once."""
    kept = sorted({(place.offset, place.end) for place in places})
    at = 0
    for start, end in [*kept, (size, size)]:
        if start > at:
            yield from pairwise([*range(at, start, LARGEST), start])
        at = max(at, end)


def _is_blank(where: Location, start: int, end: int) -> bool:
    return not any(read_bytes_at(where, start, end - start))


def mend(folder: Location, pack: str, images: Iterable[tuple[Place, bytes]]) -> None:
    """Put images back where they were in a pack that is damaged, cut or gone."""
    _overwrite(pack_path(folder, pack), ((place.offset, content) for place, content in images))


def _overwrite(where: Location, changes: Iterable[tuple[int, bytes]]) -> None:
    """Write a file again with other bytes at some offsets; it may be missing. One change is held in memory."""
    with draft(where) as path, path.open("wb") as stream:
        with suppress(FileNotFoundError):
            for piece in pieces(where):
                stream.write(piece)
        for offset, content in changes:
            stream.seek(offset)
            stream.write(content)
