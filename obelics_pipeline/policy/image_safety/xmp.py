"""XMP without where a photo was taken: elements and attributes are cut out of the packet, the rest stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.parsers import expat

MAX_BYTES = 4 * 2**20  # of a packet; a larger one is removed
MAX_DEPTH = 200  # elements in each other

# Local names of properties that say where: of exif, photoshop, Iptc4xmpCore and Iptc4xmpExt, drones, pano viewers.
_WHERE = re.compile(
    r"(?i:gps|latitude|longitude|longtitude|altitude|location|sublocation|geo(?!metr)|coordinates|placename|worldregion)"
    r"|^(?i:thumbnails|city|state|province(?:state|name|code)?|country(?:code|name)?|coverage|place|venue|address\w*|lat|lon|long)$"
)
_EMBEDDED = ("gimage", "gdepth", "gaudio", "xmpgimg")  # prefixes of pictures in the packet, with metadata of their own
_ATTRIBUTE = re.compile(rb"(?<!\s)\s+([^\s=<>\"'/]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
_ORIENTATION = re.compile(rb"tiff:Orientation(?:\s*=\s*[\"']|>)([1-8])[\"'<]")
_ALONE = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="%b"/>'
    b"</rdf:RDF></x:xmpmeta>"
)
_FORBIDDEN = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.I)


class _Cuts:
    """Where the packet is to be cut, as spans of bytes: found while it is parsed."""

    def __init__(self, packet: bytes) -> None:
        self.packet, self.spans = packet, list[tuple[int, int]]()
        self._depth, self._cut_from, self._cut_depth = 0, 0, 0
        self._ends_of = 0  # the byte after the start tag of an element that is to be cut
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def find(self) -> list[tuple[int, int]]:
        """The spans, in order. Raises ValueError where it is no XML that can be trusted."""
        if _FORBIDDEN.search(self.packet) or len(self.packet) > MAX_BYTES:
            raise ValueError("not read")
        try:
            self._parser.Parse(self.packet, True)
        except expat.ExpatError as error:
            raise ValueError(str(error)) from None
        return self.spans

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError("too deep")
        if self._cut_depth:
            return
        start = self._parser.CurrentByteIndex
        if is_where(name):
            self._cut_from, self._cut_depth = start, self._depth
        elif any(map(is_where, attributes)):
            stop = _end_of_tag(self.packet, start)
            for found in _ATTRIBUTE.finditer(self.packet, start, stop):
                if is_where(found[1].decode("utf-8", "replace")):
                    self.spans.append(found.span())

    def _end(self, _name: str) -> None:
        if self._depth == self._cut_depth:
            at = self._parser.CurrentByteIndex
            closing = self.packet.startswith(b"</", at)
            stop = _end_of_tag(self.packet, at if closing else self._cut_from)
            self.spans.append((self._cut_from, stop))
            self._cut_depth = 0
        self._depth -= 1


def is_where(name: str) -> bool:
    """Whether a property, with its prefix, says where a photo was taken."""
    prefix, _, local = name.rpartition(":")
    if prefix in ("xmlns", "xml", "rdf"):
        return False
    return _WHERE.search(local) is not None or prefix.lower() in ("geo", "gps", *_EMBEDDED)


def without_location(packet: bytes) -> bytes | None:
    """The packet without properties that say where; None where it cannot be read. The same bytes if it has none."""
    body = packet.rstrip(b"\x00")
    try:
        spans = _Cuts(body).find()
        if not spans:
            return packet
        found = b"".join(_left(body, spans))
        return found if not _Cuts(found).find() else None
    except ValueError:
        return None


def orientation_alone(packet: bytes) -> bytes | None:
    """A packet that holds the orientation and nothing else; None where it has none. For where EXIF has none."""
    found = _ORIENTATION.search(packet)
    return None if found is None else _ALONE % found[1]


def _left(packet: bytes, spans: list[tuple[int, int]]) -> Iterator[bytes]:
    at = 0
    for start, stop in sorted(spans):
        yield packet[at:start]
        at = max(at, stop)
    yield packet[at:]


def _end_of_tag(packet: bytes, start: int) -> int:
    """The byte after the tag that begins here; quoted values may hold a ">"."""
    quote, at = 0, start
    while at < len(packet):
        byte = packet[at]
        if quote:
            quote = 0 if byte == quote else quote
        elif byte in b"\"'":
            quote = byte
        elif byte == 0x3E:
            return at + 1
        at += 1
    return at
