"""The metadata of an AVIF file: items of EXIF and XMP are changed where they are, so that no offset changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obelics_pipeline.policy.image_safety.exif import PREFIX
from obelics_pipeline.policy.image_safety.policy import Left

MAX_ITEMS = 10_000  # and places of all of them together
KEPT, FREE = (b"ftyp", b"meta", b"mdat"), b"free"
PICTURES = (b"av01", b"grid", b"iovl", b"iden", b"tmap", b"sato")  # items that decode to pixels, or say how to
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
    kinds = {box.kind for box in top}
    if b"moov" in kinds or b"meta" not in kinds:
        raise ValueError("no picture of items")  # a film, or one in a box of another form: with metadata of their own
    for box in top:
        if box.kind not in KEPT:
            out[box.start : box.stop] = bytes(box.stop - box.start)
            out[box.header + 4 : box.header + 8] = FREE
    for meta in (box for box in top if box.kind == b"meta"):
        inner = {box.kind: box for box in _boxes(content, meta.start + 4, meta.stop)}
        if b"iinf" in inner and b"iloc" in inner:
            places = dict(_places(content, inner[b"iloc"], inner.get(b"idat")))
            spans = [(kind, places.get(item, [])) for item, kind in _items(content, inner[b"iinf"])]
            metadata = [(kind, of) for kind, of in spans if kind not in PICTURES]
            if sum(stop - start for _, of in metadata for start, stop in of) > len(content):
                raise ValueError("items in each other")
            for kind, of in metadata:
                _change(out, kind, of, left)
    return bytes(out)


def _change(out: bytearray, kind: bytes, spans: list[Span], left: Left) -> None:
    value = b"".join(bytes(out[start:stop]) for start, stop in spans)
    if kind == b"Exif" and len(value) > 4:
        found = value[4 + int.from_bytes(value[:4], "big") :]
        kept = left.exif(found)
        if kept == found:
            return
        kept = (kept or EMPTY).removeprefix(PREFIX)
        new = (bytes(4) + (kept if len(kept) <= len(value) - 4 else EMPTY)).ljust(len(value), b"\x00")[: len(value)]
    elif kind == b"mime":
        kept = left.xmp(value)
        new = (kept if kept is not None and len(kept) <= len(value) else b"").ljust(len(value), b" ")
    else:
        new = bytes(len(value))
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
        if entry.kind != b"infe" or number >= MAX_ITEMS or version < 2:
            raise ValueError("no list of items")
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
    places_left = MAX_ITEMS
    for _ in range(number(wide)):
        item = number(wide)
        method = number(2) & 15 if version else 0
        number(2)
        base = number(base_size)
        spans = []
        extents = number(2)
        places_left -= max(1, extents)
        if places_left < 0:
            raise ValueError("too many places")
        for _ in range(extents):
            number(index_size)
            offset, length = base + number(offset_size), number(length_size)
            start = offset + (data.start if method == 1 and data is not None else 0)
            if method > 1 or start + length > len(content):
                raise ValueError("an item elsewhere")
            spans.append((start, start + length))
        yield item, spans
