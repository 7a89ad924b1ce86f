"""A zstd file read as a stream of what it inflates to, that says where it ends early."""

from __future__ import annotations

import io
from typing import Any

import zstandard

PIECE = 4096  # bytes inflated at a time: to 128 MB at most, as a run-length block of 4 bytes gives 128 KB
MAX_WINDOW = 128 * 2**20  # bytes: what the zstd tool itself accepts by default


class ZstdStream(io.RawIOBase):
    """The frames of a file, one after the other. Reading raises EOFError in a frame that is cut, and ZstdError."""

    def __init__(self, raw: io.BufferedIOBase) -> None:
        self._raw = raw
        self._frame: Any = None
        self._packed = self._ready = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As much as is inflated, at most the buffer."""
        while not self._ready and self._inflate():
            pass
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def _inflate(self) -> bool:
        """Inflate the next piece; False at the end of the file."""
        piece = self._packed or self._raw.read(PIECE)
        if not piece:
            if self._frame is not None:
                raise EOFError("the file ends within a frame")
            return False
        if self._frame is None:
            self._frame = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
        self._ready = self._frame.decompress(piece)
        self._packed = self._frame.unused_data if self._frame.eof else b""
        if self._frame.eof:
            self._frame = None
        return True
