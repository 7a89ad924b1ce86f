"""IPTC in Photoshop's image resources, without where a photo was taken."""

from __future__ import annotations

import struct
from collections.abc import Iterator

HEADER = b"Photoshop 3.0\x00"
IPTC = 0x0404
# Resources that repeat metadata in other forms, or the thumbnail: EXIF, XMP, captions' digest, thumbnails.
DROPPED = frozenset({0x0422, 0x0423, 0x0424, 0x0425, 0x0409, 0x040C})
MARKER = 0x1C  # begins each data set
# Of record 2: content location code and name, city, sublocation, province, country code and name.
LOCATION = frozenset({26, 27, 90, 92, 95, 100, 101})


def without_location(payload: bytes) -> bytes | None:
    """The payload of an APP13 segment without location; None where nothing is left, or it cannot be read."""
    if not payload.startswith(HEADER):
        return None
    parts: list[bytes] = []
    try:
        for number, name, data in _resources(payload, len(HEADER)):
            kept = _sets(data) if number == IPTC else None if number in DROPPED else data
            if kept:
                padded = kept + b"\x00" * (len(kept) % 2)
                parts.append(b"8BIM" + struct.pack(">H", number) + name + struct.pack(">I", len(kept)) + padded)
    except (ValueError, struct.error):
        return None
    return HEADER + b"".join(parts) if parts else None


def _resources(payload: bytes, at: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Number, name as written and data of each image resource."""
    while at + 12 <= len(payload):
        if payload[at : at + 4] != b"8BIM":
            raise ValueError("no resource")
        number = struct.unpack_from(">H", payload, at + 4)[0]
        named = 1 + payload[at + 6]
        name = payload[at + 6 : at + 6 + named + named % 2]
        (size,) = struct.unpack_from(">I", payload, at + 6 + len(name))
        start = at + 10 + len(name)
        if start + size > len(payload):
            raise ValueError("cut off")
        yield number, name, payload[start : start + size]
        at = start + size + size % 2


def _sets(data: bytes) -> bytes:
    """The data sets that do not say where. Raises ValueError for a form that is not read."""
    kept, at = bytearray(), 0
    while at + 5 <= len(data) and data[at] == MARKER:
        record, number, size = data[at + 1], data[at + 2], struct.unpack_from(">H", data, at + 3)[0]
        if size & 0x8000 or at + 5 + size > len(data):  # an extended data set: of objects, not of captions
            raise ValueError("cut off")
        if not (record == 2 and number in LOCATION):
            kept += data[at : at + 5 + size]
        at += 5 + size
    if data[at:].strip(b"\x00"):
        raise ValueError("no data set")
    return bytes(kept)
