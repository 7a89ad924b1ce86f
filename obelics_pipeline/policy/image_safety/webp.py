"""The metadata of a WebP file: chunks are copied, changed or left out."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from obelics_pipeline.policy.image_safety.policy import Left

PIXELS = frozenset((b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ICCP"))
EXTENDED, EXIF, XMP, FRAME = b"VP8X", b"EXIF", b"XMP ", b"ANMF"
FRAME_HEADER = 16  # bytes before the chunks of a frame
FLAGS = {EXIF: 0x08, XMP: 0x04}  # of VP8X: that there is such a chunk


def strip(content: bytes, left: Left) -> bytes:
    """The same picture with the metadata that a policy leaves; chunks that nobody knows are left out.

    Raises ValueError where the chunks cannot be told.
    """
    kept = list(_kept(content, 12, min(len(content), 8 + int.from_bytes(content[4:8], "little")), left))
    flags = 0
    for kind, _ in kept:
        flags |= FLAGS.get(kind, 0)
    body = b"".join(_chunk(kind, _flagged(data, flags) if kind == EXTENDED else data) for kind, data in kept)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def _kept(content: bytes, at: int, end: int, left: Left) -> Iterator[tuple[bytes, bytes]]:
    while at + 8 <= end:
        kind, size = struct.unpack_from("<4sI", content, at)
        data = content[at + 8 : min(at + 8 + size, end)]
        if len(data) != size:
            raise ValueError(f"a chunk of {size} bytes")
        at += 8 + size + size % 2
        kept: bytes | None = None
        if kind in PIXELS or (kind == EXTENDED and size >= 10):
            kept = data
        elif kind == FRAME:
            within = [_chunk(*one) for one in _kept(data, FRAME_HEADER, len(data), left) if one[0] in PIXELS]
            kept = data[:FRAME_HEADER] + b"".join(within)
        elif kind == EXIF:
            kept = left.exif(data)
        elif kind == XMP:
            kept = left.xmp(data)
        if kept is not None:
            yield kind, kept


def _flagged(data: bytes, flags: int) -> bytes:
    return bytes((data[0] & ~sum(FLAGS.values()) | flags,)) + data[1:]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + b"\x00" * (len(data) % 2)
