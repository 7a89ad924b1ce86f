"""Where bytes come from: anything that answers `at(position, count)` and knows its size."""

from __future__ import annotations

import os
from typing import Protocol


class Source(Protocol):
    """Random access to bytes. `size` is in bytes; `failure` is the error that a read ended with, if one did."""

    size: int
    failure: OSError | None

    def at(self, position: int, count: int) -> bytes:
        """Up to `count` bytes from `position`; fewer only at the end. Raises OSError when they cannot be had."""

    def close(self) -> None:
        """Release what the source holds."""


class LocalSource:
    """A file on disk."""

    failure: OSError | None = None

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by `close`
        self._descriptor = self._file.fileno()
        self.size = os.fstat(self._descriptor).st_size

    def at(self, position: int, count: int) -> bytes:
        """Up to `count` bytes from `position`."""
        try:
            return os.pread(self._descriptor, count, position)
        except OSError as error:
            self.failure = error
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class BytesSource:
    """Bytes in memory, at their place in a file: `base` is the position of the first one."""

    failure: OSError | None = None

    def __init__(self, data: bytes, base: int = 0) -> None:
        self._data, self._base = data, base
        self.size = base + len(data)

    def at(self, position: int, count: int) -> bytes:
        """Up to `count` bytes from `position`."""
        start = position - self._base
        return self._data[start : start + count] if start >= 0 else b""

    def close(self) -> None:
        """Nothing to release."""


class Cursor:
    """A source as the file object that FastWARC wants: it panics on an object without `tell` and `seek`."""

    def __init__(self, source: Source, position: int) -> None:
        self._source, self._position = source, position

    def read(self, count: int = -1) -> bytes:
        """The next bytes."""
        data = self._source.at(self._position, count if count >= 0 else self._source.size - self._position)
        self._position += len(data)
        return data

    def tell(self) -> int:
        """The position of the next byte."""
        return self._position

    def close(self) -> None:
        """Does nothing: the caller that opened the source closes it."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move, as a file does."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.size}[whence]
        self._position = base + offset
        return self._position
