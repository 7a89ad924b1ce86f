"""The metadata of a JPEG file: segments are copied, changed or left out, what decodes to pixels is copied."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from obelics_pipeline.policy.image_safety.policy import Left

SOI, EOI, SOS, COM = 0xD8, 0xD9, 0xDA, 0xFE
APP0, APP1, APP2, APP13, APP14, APP15 = 0xE0, 0xE1, 0xE2, 0xED, 0xEE, 0xEF
MAX_SEGMENT = 65_533  # bytes of a payload
EXIF, XMP, ICC, ADOBE = b"Exif\x00", b"http://ns.adobe.com/xap/1.0/\x00", b"ICC_PROFILE\x00", b"Adobe"
JFIF = b"JFIF\x00"

_MARKER = re.compile(rb"\xff([^\x00\xff\xd0-\xd7])", re.S)  # in the data of a scan: the marker that ends it


def strip(content: bytes, left: Left) -> bytes:
    """The same picture with the metadata that a policy leaves. What follows its end is cut off: previews, gain maps and
    films of phones have metadata of their own. Raises ValueError where the segments cannot be told."""
    return b"".join(_parts(content, left))


def _parts(content: bytes, left: Left) -> Iterator[bytes]:
    yield b"\xff\xd8"
    at, exif_seen = 2, False
    while True:
        found = _MARKER.search(content, at)  # between segments decoders skip bytes that are no marker; so does this
        if found is None:
            raise ValueError("no end of image")
        marker, at = found[1][0], found.end()
        if marker == EOI:
            yield b"\xff\xd9"
            return
        if marker == SOI or marker == 0x01:  # of a picture within: TEM has no payload
            continue
        size = int.from_bytes(content[at : at + 2], "big")
        if size < 2 or at + size > len(content):
            raise ValueError(f"a segment of {size} bytes")
        payload = content[at + 2 : at + size]
        at += size
        if marker == SOS:
            end = _MARKER.search(content, at)
            stop = len(content) if end is None else end.start()
            yield b"\xff\xda" + struct.pack(">H", size) + payload + content[at:stop]
            if end is None:  # cut off behind its last scan: decoders close it themselves
                yield b"\xff\xd9"
                return
            at = stop
        else:
            is_exif = marker == APP1 and payload.startswith(EXIF)
            kept = None if is_exif and exif_seen else _kept(marker, payload, left)  # decoders take the first
            exif_seen |= is_exif
            if kept is not None and len(kept) <= MAX_SEGMENT:
                yield bytes((0xFF, marker)) + struct.pack(">H", len(kept) + 2) + kept


def _kept(marker: int, payload: bytes, left: Left) -> bytes | None:
    """The bytes of a segment that are kept. Of application segments only known ones are kept."""
    if marker == COM:
        return payload if left.texts else None
    if not APP0 <= marker <= APP15 or (marker == APP0 and payload.startswith(JFIF)):
        return payload
    if marker == APP1 and payload.startswith(EXIF):
        found = left.exif(payload[6:])
        return None if found is None else payload[:6] + found
    if marker == APP1 and payload.startswith(XMP):
        found = left.xmp(payload[len(XMP) :])
        return None if found is None else XMP + found
    if marker == APP13:
        return left.iptc(payload)
    known = (marker == APP2 and payload.startswith(ICC)) or (marker == APP14 and payload.startswith(ADOBE))
    return payload if known else None
