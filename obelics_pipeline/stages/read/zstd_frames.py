"""zstd, one frame per record, with or without a dictionary frame first (the IIPC draft for .warc.zst)."""

from __future__ import annotations

import struct
from typing import ClassVar

import zstandard

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.read.member import Inflater
from obelics_pipeline.stages.read.source import Source

DICTIONARY_MAGIC = 0x184D2A5D  # a skippable frame that holds the dictionary of all frames after it
SKIPPABLE_MAGIC, SKIPPABLE_MASK = 0x184D2A50, 0xFFFFFFF0
MAX_DICTIONARY = 64 * 2**20  # bytes, inflated; those of web crawls are about 1 MB
MAX_WINDOW = 128 * 2**20  # bytes: what the zstd tool itself accepts by default


class ZstdFraming:
    """Frames begin with 28 b5 2f fd. Damage inside one is surely noticed only where it has a checksum."""

    magic: ClassVar[bytes] = b"\x28\xb5\x2f\xfd"
    chunk: ClassVar[int] = 2 * 1024  # inflates to 64 MB at most: a run-length block of 4 bytes gives 128 KB
    block: ClassVar[int] = 129 * 1024  # a block comes out whole or not at all, and has 128 KB at most
    error: ClassVar[type[Exception]] = zstandard.ZstdError

    def __init__(self, source: Source) -> None:
        dictionary = _dictionary(source)
        self._options = {"dict_data": zstandard.ZstdCompressionDict(dictionary)} if dictionary else {}

    def inflater(self) -> Inflater:
        """zstandard's, with the file's dictionary and bounded memory."""
        decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW, **self._options)  # type: ignore[arg-type]
        return decompressor.decompressobj()

    def beginning(self, data: bytes) -> bytes:
        """The content of the first blocks."""
        return self.inflater().decompress(data)

    def padding(self, source: Source, position: int) -> int | None:
        """The end of a skippable frame, such as the dictionary's."""
        frame = _skippable(source, position)
        return frame[1] if frame and frame[1] <= source.size else None


def is_skippable(first: bytes) -> bool:
    """Whether a file's first bytes begin a skippable frame."""
    return first[1:4] == b"\x2a\x4d\x18" and first[0] & 0xF0 == 0x50


def _skippable(source: Source, position: int) -> tuple[int, int] | None:
    """Magic number and end of the skippable frame at `position`, or None."""
    data = source.at(position, 8)
    if len(data) < 8:
        return None
    magic, length = struct.unpack("<II", data)
    return (magic, position + 8 + length) if magic & SKIPPABLE_MASK == SKIPPABLE_MAGIC else None


def _dictionary(source: Source) -> bytes:
    """The dictionary a file begins with, b"" where it has none. Raises UserError for one that cannot be read."""
    frame = _skippable(source, 0)
    if frame is None or frame[0] != DICTIONARY_MAGIC or frame[1] > min(source.size, MAX_DICTIONARY):
        return b""
    data = source.at(8, frame[1] - 8)
    if not data.startswith(ZstdFraming.magic):
        return data
    try:
        with zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).stream_reader(data) as reader:
            return reader.read(MAX_DICTIONARY)
    except zstandard.ZstdError as error:
        raise UserError(f"the zstd dictionary at the beginning of the file is damaged: {error}") from None
