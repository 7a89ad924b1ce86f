"""The metadata of a PNG file: chunks are copied, changed or left out."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator

from obelics_pipeline.image_safety.exif import PREFIX
from obelics_pipeline.image_safety.policy import Left

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# What decodes to pixels, and their colours, sizes and times of frames.
PIXELS = frozenset(
    (b"IHDR", b"PLTE", b"IDAT", b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB", b"cICP", b"mDCV", b"cLLI",
     b"bKGD", b"hIST", b"pHYs", b"sPLT", b"acTL", b"fcTL", b"fdAT", b"sTER", b"oFFs", b"sCAL", b"pCAL")
)  # fmt: skip
TEXTS = (b"tEXt", b"zTXt", b"iTXt")
XMP, RAW_EXIF = b"XML:com.adobe.xmp", b"Raw profile type exif"
MAX_PACKET = 4 * 2**20  # bytes of a packet, unpacked; a larger one is removed
_WHERE = re.compile(
    rb"(?i)raw profile type|exif|xmp|iptc|gps|geo(?!metr)|latitude|longitude|location|coord|city|country|place"
)


def strip(content: bytes, left: Left) -> bytes:
    """The same picture with the metadata that a policy leaves; what follows its end is cut off.

    Raises ValueError where the chunks cannot be told.
    """
    return SIGNATURE + b"".join(_parts(content, left))


def _parts(content: bytes, left: Left) -> Iterator[bytes]:
    at = len(SIGNATURE)
    while at + 12 <= len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        end = at + 12 + size
        if end > len(content):
            raise ValueError(f"a chunk of {size} bytes")
        whole, data = content[at:end], content[at + 8 : end - 4]
        at = end
        if kind == b"IEND":
            yield whole
            return
        if kind in PIXELS or (kind == b"tIME" and left.texts):
            yield whole
        elif kind == b"eXIf":
            yield from _chunk(kind, data, left.exif(data), whole)
        elif kind in (b"tEXt", b"zTXt") and data.startswith(RAW_EXIF + b"\x00"):
            found = _raw_exif(kind, data[len(RAW_EXIF) + 1 :])
            kept = None if found is None else left.exif(found)
            if kept is not None and kept == found:
                yield whole
            elif kept is not None and b"eXIf" not in content:
                yield _written(b"eXIf", kept.removeprefix(PREFIX))
        elif kind in TEXTS:
            yield from _chunk(kind, data, _text(kind, data, left), whole)
    raise ValueError("no end of image")


def _chunk(kind: bytes, data: bytes, kept: bytes | None, whole: bytes) -> Iterator[bytes]:
    if kept is not None:
        yield whole if kept == data else _written(kind, kept)


def _written(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _text(kind: bytes, data: bytes, left: Left) -> bytes | None:
    """A named text: XMP without location, others as they are, unless they are named as what may hold one."""
    keyword = data.split(b"\x00", 1)[0]
    if kind == b"iTXt" and keyword == XMP:
        return _xmp(data, left)
    return data if left.texts and not _WHERE.search(keyword) else None


def _raw_exif(kind: bytes, text: bytes | None) -> bytes | None:
    """EXIF that ImageMagick wrote into a text: a line each of name and size, then hexadecimal; None if not read."""
    if kind == b"zTXt" and text is not None:
        text = _unpacked(text[1:])  # behind the number of the method, of which there is one
    try:
        return None if text is None else bytes.fromhex(b"".join(text.split(b"\n")[3:]).decode("ascii"))
    except ValueError:
        return None


def _unpacked(packed: bytes) -> bytes | None:
    unpack = zlib.decompressobj()
    try:
        found = unpack.decompress(packed, MAX_PACKET)
    except zlib.error:
        return None
    return found if unpack.eof else None


def _xmp(data: bytes, left: Left) -> bytes | None:
    """The chunk without location, no longer compressed; None where it is not read."""
    rest = data[len(XMP) + 1 :]
    fields = rest[2:].split(b"\x00", 2)  # language, translated keyword, text
    if len(rest) < 2 or len(fields) != 3:
        return None
    packet = _unpacked(fields[2]) if rest[0] else fields[2]
    if packet is None:
        return None
    kept = left.xmp(packet)
    if kept is None or kept == packet:
        return None if kept is None else data
    return XMP + b"\x00\x00\x00" + fields[0] + b"\x00" + fields[1] + b"\x00" + kept
