"""EXIF without the place where a photo was taken: read entry by entry, and written again from the allowed ones.

Untrusted bytes: every offset is checked, no directory is read twice, and what is written is never more than was read.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

ORIENTATION = 0x0112
EXIF_IFD, GPS_IFD, INTEROP_IFD, SUB_IFDS = 0x8769, 0x8825, 0xA005, 0x014A
THUMBNAIL, THUMBNAIL_BYTES = 0x0201, 0x0202
POINTERS = (EXIF_IFD, INTEROP_IFD)
DEPTH = 2  # of directories below the first: EXIF's, and interoperability's in it

# What says where a photo was taken, or is of a form that only its maker knows: MakerNote, XMP, IPTC, Photoshop's own,
# GeoTIFF, private data and directories of raw files, Microsoft's padding; and strips of pixels, which are elsewhere.
LOCATION = frozenset(
    {GPS_IFD, SUB_IFDS, 0x927C, 0x02BC, 0x83BB, 0x8649, 0xEA1C, 0xC634, 0xC65A, 0xA480, 0xA481,
     0x830E, 0x8482, 0x8480, 0x85D8, 0x87AF, 0x87B0, 0x87B1, 0x0190, 0x8290, 0x888A, 0xFE00, 0x0111, 0x0144}
)  # fmt: skip
# Bytes of a value, by type; the last is UTF-8 of EXIF 3.0.
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 129: 1}
LONG, SHORT = 4, 3
PREFIX = b"Exif\x00\x00"
INNER = (b"Exif\x00", b"http://ns.adobe.com/", b"Photoshop 3.0", b"xmpmeta")  # in a thumbnail: metadata of its own


@dataclass(frozen=True)
class Entry:
    """One value: its tag, type and count as written, and its bytes in the order of the file."""

    tag: int
    kind: int
    count: int
    value: bytes


@dataclass
class Directory:
    """Entries, the directories that some of them point to, and the thumbnail."""

    entries: list[Entry] = field(default_factory=list)
    below: dict[int, Directory] = field(default_factory=dict)
    thumbnail: bytes | None = None
    dropped: bool = False  # something of it may not stay


class _Seen:
    """The bytes read so far, of directories and values, which together may not exceed the size of the file."""

    def __init__(self, size: int) -> None:
        self.directories: set[int] = set()
        self._left = size

    def take(self, size: int) -> bool:
        """Whether so many bytes more may be read."""
        self._left -= size
        return self._left >= 0


class NotExif(ValueError):
    """These bytes are not read as EXIF."""


def without_location(exif: bytes) -> bytes | None:
    """The same without location; None where nothing could be read or nothing is left. The same bytes if it has none.

    `exif` is a TIFF structure, with or without "Exif" and two zero bytes before it.
    """
    prefix, tiff = _split(exif)
    try:
        order = _order(tiff)
        main, small = _read(tiff, order)
        if not (main.dropped or (small is not None and small.dropped)):
            return exif
        written = _written(main, small, order)
        return prefix + written if written is not None and len(written) <= len(tiff) else _alone(prefix, main, order)
    except NotExif:
        return None


def orientation_alone(exif: bytes) -> bytes | None:
    """EXIF that holds the orientation and nothing else; None where it has none."""
    prefix, tiff = _split(exif)
    try:
        order = _order(tiff)
        main, _ = _read(tiff, order)
        return _alone(prefix, main, order)
    except NotExif:
        return None


def _alone(prefix: bytes, main: Directory, order: str) -> bytes | None:
    value = next((_number(e, order) for e in main.entries if e.tag == ORIENTATION), None)
    if value is None or not 1 <= value <= 8:
        return None
    entry = Entry(ORIENTATION, SHORT, 1, struct.pack(f"{order}H", value))
    return prefix + (_written(Directory([entry]), None, order) or b"")


def _split(exif: bytes) -> tuple[bytes, bytes]:
    return (PREFIX, exif[len(PREFIX) :]) if exif.startswith(PREFIX) else (b"", exif)


def _order(tiff: bytes) -> str:
    """Struct's word for the byte order. Raises NotExif."""
    order = {b"II*\x00": "<", b"MM\x00*": ">"}.get(tiff[:4])
    if order is None or len(tiff) < 8:
        raise NotExif("no TIFF header")
    return order


def _read(tiff: bytes, order: str) -> tuple[Directory, Directory | None]:
    """The first directory with those below it, and that of the thumbnail."""
    seen = _Seen(len(tiff))
    start = struct.unpack_from(f"{order}I", tiff, 4)[0]
    main, following = _directory(tiff, start, order, seen)
    small: Directory | None = None
    if following:
        try:
            small, more = _directory(tiff, following, order, seen)
            small.dropped |= more != 0
        except NotExif:
            main.dropped = True
    return main, small


def _directory(tiff: bytes, start: int, order: str, seen: _Seen, depth: int = 0) -> tuple[Directory, int]:
    """A directory and the offset of the one that follows. Raises NotExif if no directory is at `start`."""
    if depth > DEPTH or start in seen.directories or start < 8 or start + 2 > len(tiff):
        raise NotExif(f"no directory at {start}")
    seen.directories.add(start)
    (count,) = struct.unpack_from(f"{order}H", tiff, start)
    found = Directory()
    tags: set[int] = set()
    for at in range(start + 2, min(start + 2 + 12 * count, len(tiff) - 11), 12):
        tag, kind, n = struct.unpack_from(f"{order}HHI", tiff, at)
        if tag in LOCATION or tag in tags:
            found.dropped = True
            continue
        tags.add(tag)
        size = SIZES.get(kind, 0) * n
        place = at + 8 if size <= 4 else struct.unpack_from(f"{order}I", tiff, at + 8)[0]
        if not size or place + size > len(tiff) or not seen.take(size):
            found.dropped = True  # what cannot be read is not kept
            continue
        entry = Entry(tag, kind, n, tiff[place : place + size])
        if tag in POINTERS:
            try:
                below, more = _directory(tiff, _number(entry, order) or 0, order, seen, depth + 1)
                found.below[tag] = below
                found.dropped |= below.dropped or more != 0
            except NotExif:
                found.dropped = True
                continue
        found.entries.append(entry)
    _take_thumbnail(found, tiff, order)
    end = start + 2 + 12 * count
    following = struct.unpack_from(f"{order}I", tiff, end)[0] if end + 4 <= len(tiff) else 0
    return found, following


def _take_thumbnail(of: Directory, tiff: bytes, order: str) -> None:
    """Give a directory the bytes of its thumbnail; where they are not there, or have metadata, its entries go."""
    numbers = {entry.tag: _number(entry, order) for entry in of.entries if entry.tag in (THUMBNAIL, THUMBNAIL_BYTES)}
    if not numbers:
        return
    start, size = numbers.get(THUMBNAIL) or 0, numbers.get(THUMBNAIL_BYTES) or 0
    content = tiff[start : start + size]
    if start and content and len(content) == size and not any(mark in content for mark in INNER):
        of.thumbnail = content
    else:
        of.dropped = True
        of.entries = [entry for entry in of.entries if entry.tag not in numbers]


def _number(entry: Entry, order: str) -> int | None:
    if entry.count < 1 or entry.kind not in (SHORT, LONG, 13):
        return None
    number: int = struct.unpack_from(f"{order}{'H' if entry.kind == SHORT else 'I'}", entry.value)[0]
    return number


def _written(main: Directory, small: Directory | None, order: str) -> bytes | None:
    """A TIFF structure of these; None where nothing is in it."""
    if small is not None and not small.entries:
        small = None
    if not main.entries and small is None:
        return None
    out = bytearray((b"II*\x00" if order == "<" else b"MM\x00*") + struct.pack(f"{order}I", 8))
    link = _append(out, main, order)
    if small is not None:
        struct.pack_into(f"{order}I", out, link, len(out))
        _append(out, small, order)
    return bytes(out)


def _append(out: bytearray, of: Directory, order: str) -> int:
    """Write a directory and all below it at the end; where its link to the next one is."""
    entries = sorted(of.entries, key=lambda entry: entry.tag)
    start = len(out)
    out += struct.pack(f"{order}H", len(entries)) + bytes(12 * len(entries) + 4)
    for n, entry in enumerate(entries):
        kind, count, value = entry.kind, entry.count, entry.value
        if entry.tag in of.below:
            kind, count, value = LONG, 1, struct.pack(f"{order}I", len(out))
            _append(out, of.below[entry.tag], order)
        elif entry.tag == THUMBNAIL and of.thumbnail is not None:
            kind, count, value = LONG, 1, struct.pack(f"{order}I", len(out))
            out += of.thumbnail + b"\x00" * (len(of.thumbnail) % 2)
        if len(value) > 4:
            place = struct.pack(f"{order}I", len(out))
            out += value + b"\x00" * (len(value) % 2)
            value = place
        struct.pack_into(f"{order}HHI", out, start + 2 + 12 * n, entry.tag, kind, count)
        out[start + 10 + 12 * n : start + 14 + 12 * n] = value.ljust(4, b"\x00")
    return start + 2 + 12 * len(entries)
