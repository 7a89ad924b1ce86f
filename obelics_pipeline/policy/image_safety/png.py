"""The metadata of a PNG file: chunks are copied, changed or left out."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator

from obelics_pipeline.policy.image_safety.exif import PREFIX
from obelics_pipeline.policy.image_safety.policy import Left

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
    taken = {RAW_EXIF} if b"eXIf" in content else set[bytes]()  # names of texts that decoders do not look for any more
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
            kept = left.exif(data)
            if kept is not None:
                yield whole if kept == data else _written(kind, kept)
        elif kind in TEXTS:
            keyword, _, text = data.partition(b"\x00")
            if keyword not in taken:
                taken |= {keyword} & {XMP, RAW_EXIF}  # one of each: what is packed costs time
                yield from _text(kind, keyword, text, whole, left)
    raise ValueError("no end of image")


def _written(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _text(kind: bytes, keyword: bytes, text: bytes, whole: bytes, left: Left) -> Iterator[bytes]:
    """A named text: EXIF and XMP without location, others as they are, unless they are named as what may hold one."""
    if keyword == RAW_EXIF:
        found = _raw_exif(kind, text)
        kept = None if found is None else left.exif(found)
        if kept is not None:
            yield whole if kept == found else _written(b"eXIf", kept.removeprefix(PREFIX))
    elif keyword == XMP and kind == b"iTXt":
        yield from _xmp(text, whole, left)
    elif left.texts and not _WHERE.search(keyword):
        yield whole


def _raw_exif(kind: bytes, text: bytes) -> bytes | None:
    """EXIF that ImageMagick wrote into a text: a line each of name and size, then hexadecimal; None if not read."""
    plain = _unpacked(text[1:]) if kind == b"zTXt" else text  # packed behind the number of the method, of which one is
    try:
        return None if plain is None else bytes.fromhex(b"".join(plain.split(b"\n")[3:]).decode("ascii"))
    except ValueError:
        return None


def _unpacked(packed: bytes) -> bytes | None:
    unpack = zlib.decompressobj()
    try:
        found = unpack.decompress(packed, MAX_PACKET)
    except zlib.error:
        return None
    return found if unpack.eof else None


def _xmp(text: bytes, whole: bytes, left: Left) -> Iterator[bytes]:
    """The packet without location, no longer compressed; nothing where it is not read."""
    fields = text[2:].split(b"\x00", 2)  # language, translated keyword, text
    packet = None if len(fields) != 3 else _unpacked(fields[2]) if text[0] else fields[2]
    kept = None if packet is None else left.xmp(packet)
    if kept is not None:
        header = XMP + b"\x00\x00\x00" + fields[0] + b"\x00" + fields[1] + b"\x00"
        yield whole if kept == packet else _written(b"iTXt", header + kept)
