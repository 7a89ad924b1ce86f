"""TIFF taken apart: each picture of a file as a file of its own, with nothing but what its pixels need.

A TIFF is a chain of directories with entries of 12 bytes; the pixels of each picture lie in strips or tiles (TIFF 6.0,
Adobe, 1992, sections 2 and 15). Nothing is decoded. Untrusted bytes: every offset is checked, and what is read of
directories, values and pixels together is at most twice the file.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from obelics_pipeline.policy.image_safety.exif import INNER, LONG, ORIENTATION, SHORT, SIZES, Entry
from obelics_pipeline.policy.image_safety.policy import Left

ORDERS = {b"II*\x00": "<", b"MM\x00*": ">"}  # the first bytes, and struct's word for the byte order
MOST_PIECES = 2**18  # strips or tiles of a picture: 67 megapixels in the smallest tiles, of 16 by 16
READ_AT_MOST = 2  # times the file's size: values that directories share are read for each

# Offsets of strips and of tiles, and the entries that say how many bytes each has.
PIECES = {0x0111: 0x0117, 0x0144: 0x0145}
COMPRESSION, OLD_JPEG = 0x0103, 6  # its tables lie anywhere in the file (TIFF 6.0, section 22)
# What else says how pixels are stored and shown, by TIFF 6.0: size, depth, compression, photometric interpretation,
# order of bits, orientation, samples, resolution, fax options, transfer function, prediction, white point, primaries,
# palette, size of tiles, inks, kind of samples, tables of JPEG in strips, YCbCr; and the ICC profile (ICC.1, annex B).
PIXELS = frozenset(
    {0x0100, 0x0101, 0x0102, COMPRESSION, 0x0106, 0x010A, ORIENTATION, 0x0115, 0x0116, 0x011A, 0x011B, 0x011C, 0x0122,
     0x0123, 0x0124, 0x0125, 0x0128, 0x012D, 0x013D, 0x013E, 0x013F, 0x0140, 0x0142, 0x0143, 0x014C, 0x0152, 0x0153,
     0x0154, 0x0155, 0x015B, 0x0211, 0x0212, 0x0213, 0x0214, 0x8773}
)  # fmt: skip


@dataclass(frozen=True)
class Pictures:
    """`files` has a TIFF for each picture, None for one that cannot be cut out. `ends`: no further picture follows."""

    files: Sequence[bytes | None]
    ends: bool


class _Source:
    """The file, and how many bytes of it may still be read."""

    def __init__(self, content: bytes) -> None:
        order = ORDERS.get(content[:4])
        if order is None or len(content) < 8:
            raise ValueError("no TIFF header")
        self.order, self._content, self._left = order, content, READ_AT_MOST * len(content)

    def take(self, at: int, size: int) -> bytes:
        """Bytes of the file. Raises ValueError where they are not there, or too many were read."""
        self._left -= size
        if at + size > len(self._content) or self._left < 0:
            raise ValueError(f"{size} bytes at {at} are not there")
        return self._content[at : at + size]

    def numbers(self, entry: Entry) -> tuple[int, ...]:
        """The values of an entry. Raises ValueError where they are no numbers."""
        if entry.kind not in (SHORT, LONG):
            raise ValueError(f"tag {entry.tag} has no numbers")
        return struct.unpack(f"{self.order}{entry.count}{'H' if entry.kind == SHORT else 'I'}", entry.value)


def pictures(content: bytes, most: int) -> Pictures:
    """The first pictures of a TIFF file, at most so many. Raises ValueError for bytes that are no TIFF."""
    source = _Source(content)
    files: list[bytes | None] = []
    try:
        (following,) = struct.unpack(f"{source.order}I", source.take(4, 4))
        while following and len(files) < most:
            places, following = _directory(source, following)
            try:
                files.append(_cut_out(source, places))
            except ValueError:
                files.append(None)
    except ValueError:  # the chain is broken: what came before stays
        return Pictures(files, ends=False)
    return Pictures(files, ends=not following)


def strip(content: bytes, _left: Left) -> bytes:
    """A TIFF that is nothing but one picture, as `pictures` cuts it out, has nothing to strip.

    Raises ValueError for any other: what is metadata in it cannot be told.
    """
    if list(pictures(content, 1).files) != [content] or any(mark in content for mark in INNER):
        raise ValueError("a TIFF with more than the pixels of one picture")
    return content


def _directory(source: _Source, at: int) -> tuple[Sequence[bytes], int]:
    """The entries of a directory, unread, and the offset of the next one."""
    (count,) = struct.unpack(f"{source.order}H", source.take(at, 2))
    raw = source.take(at + 2, 12 * count)
    (following,) = struct.unpack(f"{source.order}I", source.take(at + 2 + 12 * count, 4))
    return [raw[i : i + 12] for i in range(0, len(raw), 12)], following


def _cut_out(source: _Source, raw: Sequence[bytes]) -> bytes:
    """A file of the picture of one directory. Raises ValueError where some of it is not there."""
    entries: dict[int, Entry] = {}
    for place in raw:
        tag, kind, count = struct.unpack(f"{source.order}HHI", place[:8])
        if (tag in PIXELS or tag in PIECES or tag in PIECES.values()) and tag not in entries:
            size = SIZES.get(kind, 0) * count
            (at,) = struct.unpack(f"{source.order}I", place[8:])
            value = source.take(at, size) if size > 4 else place[8 : 8 + size]
            entries[tag] = Entry(tag, kind, count, value)
    if COMPRESSION in entries and source.numbers(entries[COMPRESSION]) == (OLD_JPEG,):
        raise ValueError("an old JPEG")
    offsets = [tag for tag in PIECES if tag in entries]
    if len(offsets) != 1 or PIECES[offsets[0]] not in entries:
        raise ValueError("no strips, or not one kind of them")
    starts, sizes = source.numbers(entries[offsets[0]]), source.numbers(entries[PIECES[offsets[0]]])
    if not 0 < len(starts) == len(sizes) <= MOST_PIECES:
        raise ValueError(f"{len(starts)} strips, {len(sizes)} sizes")
    pieces = [source.take(start, size) for start, size in zip(starts, sizes, strict=True)]
    return _written(entries, offsets[0], pieces, source.order)


def _written(entries: Mapping[int, Entry], offsets: int, pieces: Sequence[bytes], order: str) -> bytes:
    """A file of one directory: the header, the entries by their tags, long values, pixels."""
    kept = [entry for tag, entry in sorted(entries.items()) if tag == offsets or tag not in PIECES]
    kept = [Entry(e.tag, LONG, len(pieces), bytes(4 * len(pieces))) if e.tag == offsets else e for e in kept]
    start = 8 + 2 + 12 * len(kept) + 4
    long = sum(len(e.value) + len(e.value) % 2 for e in kept if len(e.value) > 4)
    places, at = [], start + long
    for piece in pieces:
        places.append(at)
        at += len(piece)
    directory, values = bytearray(struct.pack(f"{order}H", len(kept))), bytearray()
    for entry in kept:
        value = struct.pack(f"{order}{len(places)}I", *places) if entry.tag == offsets else entry.value
        directory += struct.pack(f"{order}HHI", entry.tag, entry.kind, entry.count)
        if len(value) > 4:
            directory += struct.pack(f"{order}I", start + len(values))
            values += value + bytes(len(value) % 2)
        else:
            directory += value.ljust(4, b"\x00")
    header = next(first for first, named in ORDERS.items() if named == order) + struct.pack(f"{order}I", 8)
    return b"".join([header, directory, bytes(4), values, *pieces])
