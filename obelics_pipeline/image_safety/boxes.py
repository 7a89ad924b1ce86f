"""The metadata of an AVIF file: items of EXIF and XMP are changed where they are, so that no offset changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obelics_pipeline.image_safety.exif import PREFIX
from obelics_pipeline.image_safety.policy import Left

DEPTH = 4  # boxes in each other that are looked into
MAX_ITEMS = 10_000
UUID, FREE = b"uuid", b"free"
EMPTY = b"II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00"  # a directory without entries: decoders want one

Span = tuple[int, int]  # first byte, and the byte after the last


@dataclass(frozen=True)
class Box:
    """A box: its kind, where its payload is, and where it begins."""

    kind: bytes
    start: int
    stop: int
    header: int


def strip(content: bytes, left: Left) -> bytes:
    """The same file, of the same length, with the metadata that a policy leaves: the rest is zeros.

    Raises ValueError where the items cannot be told.
    """
    out = bytearray(content)
    top = list(_boxes(content, 0, len(content)))
    for box in top:
        if box.kind == UUID:
            out[box.start : box.stop] = bytes(box.stop - box.start)
            out[box.header + 4 : box.header + 8] = FREE
    for meta in (box for box in top if box.kind == b"meta"):
        inner = {box.kind: box for box in _boxes(content, meta.start + 4, meta.stop)}
        if b"iinf" in inner and b"iloc" in inner:
            places = dict(_places(content, inner[b"iloc"], inner.get(b"idat")))
            for item, kind in _items(content, inner[b"iinf"]):
                _change(out, kind, places.get(item, []), left)
    if any(box.kind == b"moov" for box in top):
        raise ValueError("a film")  # a sequence, whose boxes may have metadata of their own
    return bytes(out)


def _change(out: bytearray, kind: bytes, spans: list[Span], left: Left) -> None:
    value = b"".join(bytes(out[start:stop]) for start, stop in spans)
    if kind == b"Exif" and len(value) > 4:
        kept = left.exif(value[4 + int.from_bytes(value[:4], "big") :])
        kept = (kept or EMPTY).removeprefix(PREFIX)
        new = (bytes(4) + (kept if len(kept) <= len(value) - 4 else EMPTY)).ljust(len(value), b"\x00")[: len(value)]
    elif kind == b"mime":
        kept = left.xmp(value)
        new = (kept if kept is not None and len(kept) <= len(value) else b"").ljust(len(value), b" ")
    elif kind in (b"uri ", b"jumb"):
        new = bytes(len(value))
    else:
        return
    for start, stop in spans:
        out[start:stop], new = new[: stop - start], new[stop - start :]


def _boxes(content: bytes, at: int, end: int) -> Iterator[Box]:
    while at + 8 <= end:
        size, kind, head = int.from_bytes(content[at : at + 4], "big"), content[at + 4 : at + 8], 8
        if size == 1:
            size, head = int.from_bytes(content[at + 8 : at + 16], "big"), 16
        elif size == 0:
            size = end - at
        if size < head or at + size > end:
            raise ValueError(f"a box of {size} bytes")
        yield Box(kind, at + head, at + size, at)
        at += size


def _items(content: bytes, box: Box) -> Iterator[tuple[int, bytes]]:
    """Number and kind of each item."""
    at = box.start + 4 + (2 if content[box.start] == 0 else 4)
    for number, entry in enumerate(_boxes(content, at, box.stop)):
        version = content[entry.start]
        if entry.kind != b"infe" or number > MAX_ITEMS or version < 2:
            continue
        wide = 2 if version == 2 else 4
        begin = entry.start + 4
        yield int.from_bytes(content[begin : begin + wide], "big"), content[begin + wide + 2 : begin + wide + 6]


def _places(content: bytes, box: Box, data: Box | None) -> Iterator[tuple[int, list[Span]]]:
    """Where the bytes of each item are."""
    version, at = content[box.start], box.start + 4
    offset_size, length_size = content[at] >> 4, content[at] & 15
    base_size, index_size = content[at + 1] >> 4, content[at + 1] & 15 if version else 0
    wide = 4 if version == 2 else 2

    def number(size: int) -> int:
        nonlocal at
        if at + size > box.stop:
            raise ValueError("cut off")
        at += size
        return int.from_bytes(content[at - size : at], "big")

    at += 2
    for _ in range(min(number(wide), MAX_ITEMS)):
        item = number(wide)
        method = number(2) & 15 if version else 0
        number(2)
        base = number(base_size)
        spans = []
        for _ in range(min(number(2), MAX_ITEMS)):
            number(index_size)
            offset, length = base + number(offset_size), number(length_size)
            start = offset + (data.start if method == 1 and data is not None else 0)
            if method > 1 or start + length > len(content):
                raise ValueError("an item elsewhere")
            spans.append((start, start + length))
        yield item, spans
