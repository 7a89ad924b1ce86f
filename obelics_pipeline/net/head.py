"""The head of an answer: status line and headers, no more bytes of them than a cap."""

from __future__ import annotations

import http.client
import re
from typing import BinaryIO

# Bytes, answers of the kind 100 (Continue) included. As Chromium's limit (net/http/http_stream_parser.h): no site that
# people read has more. http.client itself lets a head have 6.4 MB, and holds it several times over.
MAX_HEAD_BYTES = 256 * 2**10
_DIGITS = re.compile(r"[0-9]{1,18}")


class BoundedResponse(http.client.HTTPResponse):
    """An answer with a head of bounded size. Raises HTTPException where it is larger.

    `size` is how many bytes it has, head and body; None where another request must not follow it: see `_announced`.
    """

    size: int | None = None

    def begin(self) -> None:
        """Read the head."""
        whole = self.fp
        head = _Head(whole)
        self.fp = head  # type: ignore[assignment]
        try:
            super().begin()
        finally:
            if self.fp is not None:  # what is no HTTP is closed at once
                self.fp = whole
        announced = self._announced()
        if announced is not None and head.ends == 1:  # a head of the kind 1xx was not asked for
            self.size = head.bytes + announced

    def _announced(self) -> int | None:
        """Bytes of the body, where the answer leaves no doubt of its end and keeps the connection.

        That is HTTP/1.1, one plain Content-Length, and nothing that could mean another end (RFC 9112 6.3). Chunks are
        not trusted: http.client takes sizes such as 0x5 and -5, and reads over what stands in place of a line's end.
        """
        said = [self.headers.get_all(name, []) for name in ("Connection", "Proxy-Connection")]
        closes = any("close" in value.lower() for values in said for value in values)
        lengths = self.headers.get_all("Content-Length", [])
        doubtful = self.headers.defects or "Transfer-Encoding" in self.headers or len(lengths) != 1
        if closes or doubtful or self.version != 11 or self.status < 200:
            return None
        return int(lengths[0]) if _DIGITS.fullmatch(lengths[0]) else None


class _Head:
    """The lines of a file, until they have become too many bytes. `ends` counts the empty ones, each a head's last."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.bytes = self.ends = 0

    def readline(self, limit: int) -> bytes:
        line = self._file.readline(limit)
        self.bytes += len(line)
        self.ends += line in (b"\r\n", b"\n")
        if self.bytes > MAX_HEAD_BYTES:
            raise http.client.HTTPException(f"the head has more than {MAX_HEAD_BYTES} bytes")
        return line

    def close(self) -> None:
        self._file.close()
