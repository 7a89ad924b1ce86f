"""gzip, one member per record: the way Common Crawl writes WARC files."""

from __future__ import annotations

import zlib
from typing import ClassVar

from obelics_pipeline.stages.read.member import Inflater
from obelics_pipeline.stages.read.source import Source

BEGINNING = 64  # bytes of content that tell a record


class GzipFraming:
    """Members begin with 1f 8b 08 and end with a CRC-32 and a length, which zlib checks."""

    magic: ClassVar[bytes] = b"\x1f\x8b\x08"
    chunk: ClassVar[int] = 16 * 1024  # inflates to 16 MB at most: deflate reaches 1032 to 1
    block: ClassVar[int] = 64 * 1024  # the header may hold a comment
    error: ClassVar[type[Exception]] = zlib.error

    def inflater(self) -> Inflater:
        """zlib's, set to the gzip format."""
        return zlib.decompressobj(wbits=31)

    def beginning(self, data: bytes) -> bytes:
        """The first few bytes of content, whatever comes after them."""
        return zlib.decompressobj(wbits=31).decompress(data, BEGINNING)

    def padding(self, source: Source, position: int) -> int | None:
        """gzip has no members without content."""
        return None
