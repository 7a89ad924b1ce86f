"""Compressed members, gzip or zstd, one by one: finding them, checking them, and what they inflate to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from obelics_pipeline.stages.read.plain import Content
from obelics_pipeline.stages.read.raw_record import DamageError
from obelics_pipeline.stages.read.source import BytesSource, Source

PROBE_BYTES = 4096  # enough for a gzip header with a file name and the first block's tables
SCAN_WINDOW = 1 << 20
KEPT_BYTES = 8 * 2**20  # a member that inflates to less is held; a larger one is inflated again while it is parsed
WINDOW_BYTES = 2 * 2**20  # of a larger member, how much stays within reach behind the furthest byte read
MAX_REWINDS = 16  # times a larger member is inflated again for a step back; more means a hopeless one


class Inflater(Protocol):
    """The interface of a decompression object of zlib or zstandard."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member was reached."""

    @property
    def unused_data(self) -> bytes:
        """The bytes after the end of the compressed stream."""

    def decompress(self, data: bytes, /) -> bytes:
        """Decompress `data`; returns the new output."""


class Framing(Protocol):
    """One kind of compression, member by member."""

    magic: ClassVar[bytes]
    chunk: ClassVar[int]  # compressed bytes inflated at a time: bounds what a bomb can do at once
    block: ClassVar[int]  # compressed bytes that surely inflate to something
    error: ClassVar[type[Exception]]

    def inflater(self) -> Inflater:
        """A fresh decompression object."""

    def beginning(self, data: bytes) -> bytes:
        """The first bytes of a member, inflated; a few bytes at least. Raises `error`."""

    def padding(self, source: Source, position: int) -> int | None:
        """The end of a member at `position` that holds no record by its nature, or None."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member that was inflated once to its end. `damage` says what was wrong, None if its checksum was right."""

    end: int
    content: Content
    damage: DamageError | None


def is_record(source: Source, framing: Framing, position: int) -> bool:
    """Whether a member at `position` begins like a WARC record."""
    for count in (PROBE_BYTES, framing.block):
        data = source.at(position, count)
        if not data.startswith(framing.magic):
            return False
        try:
            text = framing.beginning(data)
        except framing.error:
            return False
        if text:
            return text.lstrip(b"\r\n").startswith(b"WARC/")
    return False


def padding_end(source: Source, framing: Framing, position: int) -> int | None:
    """The end of a member at `position` that inflates to nothing but line ends, or None."""
    data = source.at(position, PROBE_BYTES)
    if not data.startswith(framing.magic):
        return framing.padding(source, position)
    inflater = framing.inflater()
    try:
        empty = not inflater.decompress(data).strip(b"\r\n")
    except framing.error:
        return None
    return position + len(data) - len(inflater.unused_data) if empty and inflater.eof else None


def find_record(source: Source, framing: Framing, position: int, stop: int) -> int:
    """The first member in [position, stop) that begins like a WARC record, or `stop`."""
    overlap = len(framing.magic) - 1
    while position < stop:
        data = source.at(position, min(SCAN_WINDOW, stop - position + overlap))
        found = data.find(framing.magic)
        while found >= 0 and position + found < stop:
            if is_record(source, framing, position + found):
                return position + found
            found = data.find(framing.magic, found + 1)
        if len(data) <= overlap:
            break
        position += len(data) - overlap
    return stop


def ends_early(source: Source, framing: Framing, position: int) -> bool:
    """Whether what stands at `position` is the beginning of a member that the file's end cuts off."""
    data = source.at(position, len(framing.magic))
    if not data or not framing.magic.startswith(data):
        return False
    damage = open_member(source, framing, position).damage
    return damage is not None and damage.truncated


def open_member(source: Source, framing: Framing, position: int) -> Member:
    """Inflate the member at `position` to its end, in bounded memory, and say whether it is sound."""
    stream = InflatedStream(source, framing, position)
    kept: bytearray | None = bytearray()
    try:
        while data := stream.more():
            if kept is not None:
                kept += data
                kept = kept if len(kept) <= KEPT_BYTES else None
    except DamageError as damage:
        return Member(stream.position, InflatedStream(source, framing, position), damage)
    content = InflatedStream(source, framing, position) if kept is None else BytesSource(bytes(kept))
    return Member(stream.position, content, None)


class InflatedStream:
    """The content of one member, inflated as it is read; steps far back inflate it again from its beginning."""

    def __init__(self, source: Source, framing: Framing, start: int) -> None:
        self._source, self._framing, self._start = source, framing, start
        self._rewinds = 0
        self._reset()

    def _reset(self) -> None:
        self.position = self._start  # of the next compressed byte; after the end, the member's end
        self._inflater = self._framing.inflater()
        self._window, self._window_start = bytearray(), 0

    def more(self) -> bytes:
        """The next piece of content, b"" at the end. Raises DamageError."""
        while not self._inflater.eof:
            data = self._source.at(self.position, self._framing.chunk)
            if not data:
                raise DamageError(truncated=True)
            try:
                out = self._inflater.decompress(data)
            except self._framing.error:
                raise DamageError(truncated=False) from None
            self.position += len(data) - len(self._inflater.unused_data)
            if out:
                return out
        return b""

    def at(self, position: int, count: int) -> bytes:
        """Up to `count` bytes of content from `position`. Raises DamageError where they are beyond the damage."""
        if position < self._window_start:
            self._rewinds += 1
            if self._rewinds > MAX_REWINDS:
                raise DamageError(truncated=False)
            self._reset()
        while self._window_start + len(self._window) < position + count:
            surplus = min(position, self._window_start + len(self._window)) - WINDOW_BYTES - self._window_start
            if surplus > WINDOW_BYTES:
                del self._window[:surplus]
                self._window_start += surplus
            data = self.more()
            if not data:
                break
            self._window += data
        start = position - self._window_start
        return bytes(self._window[start : start + count]) if start >= 0 else b""
