"""The head of an answer: status line and headers, no more bytes of them than a cap."""

from __future__ import annotations

import http.client
from typing import BinaryIO

# Bytes, answers of the kind 100 (Continue) included. As Chromium's limit (net/http/http_stream_parser.h): no site that
# people read has more. http.client itself lets a head have 6.4 MB, and holds it several times over.
MAX_HEAD_BYTES = 256 * 2**10


class BoundedResponse(http.client.HTTPResponse):
    """An answer with a head of bounded size. Raises HTTPException where it is larger."""

    def begin(self) -> None:
        """Read the head."""
        whole = self.fp
        self.fp = _Head(whole)  # type: ignore[assignment]
        try:
            super().begin()
        finally:
            if self.fp is not None:  # what is no HTTP is closed at once
                self.fp = whole


class _Head:
    """The lines of a file, until they have become too many bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._left = file, MAX_HEAD_BYTES

    def readline(self, limit: int) -> bytes:
        line = self._file.readline(limit)
        self._left -= len(line)
        if self._left < 0:
            raise http.client.HTTPException(f"the head has more than {MAX_HEAD_BYTES} bytes")
        return line

    def close(self) -> None:
        self._file.close()
