"""An object of a store read as a file: each read is one request for a range, and none for what is not read."""

from __future__ import annotations

import io
from typing import Any

from upath import UPath

from obelics_pipeline.core.access import reaching


class Ranged(io.RawIOBase):
    """A seekable file over an object of `size` bytes. Give it to readers that ask for large ranges only."""

    def __init__(self, where: UPath, size: int) -> None:
        self._where, self._size, self._at = where, size, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position; no request is sent to the store."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, by one request. Raises OSError."""
        end = self._size if size is None or size < 0 else min(self._at + size, self._size)
        if end <= self._at:
            return b""
        with reaching(self._where):
            data = bytes(self._where.fs.cat_file(self._where.path, start=self._at, end=end))
        self._at += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        """As `read`."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
