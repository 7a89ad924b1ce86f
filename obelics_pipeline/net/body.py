"""The body of an answer: never more bytes than the cap, neither on the wire nor after a content coding."""

from __future__ import annotations

import http.client
import io
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError

CHUNK = 64 * 2**10  # bytes asked of the connection at a time
SMALL_BODY = 2**20  # bytes any request may hold without asking: most images are smaller (mean of the web: ~0.1 MB)


class BodyBudget:
    """Bounds the bytes held by all requests of a worker: a few may be large at a time, the others wait.

    A request asks once, when it outgrows `SMALL_BODY`, and never waits again while it holds the permission, so
    there is no deadlock; permission lasts until its `request` ends, that is, until the image is stored.
    """

    def __init__(self, total: int, threads: int, cap: int) -> None:
        self._large = threading.BoundedSemaphore(max(1, (total - threads * SMALL_BODY) // max(1, cap)))
        self._mine = threading.local()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Around one request and all that is done with its bytes, in one thread."""
        self._mine.large = False
        try:
            yield
        finally:
            if self._mine.large:
                self._large.release()

    def grow(self, deadline: Deadline) -> None:
        """Ask to hold more than `SMALL_BODY`. The wait is ours, so the deadline moves with it."""
        if not self._mine.large:
            start = time.monotonic()
            self._large.acquire()
            self._mine.large = True
            deadline.extend(time.monotonic() - start)


def read_body(answer: http.client.HTTPResponse, cap: int, budget: BodyBudget, deadline: Deadline) -> bytes:
    """The body, decoded. Raises FetchError: too_large, incomplete_body, bad_content_encoding."""
    if answer.length is not None and answer.length > cap:
        raise FetchError("too_large")
    held = io.BytesIO()
    for piece in _pieces(answer):
        held.write(piece)
        if held.tell() > cap:
            raise FetchError("too_large")
        if held.tell() > SMALL_BODY:
            budget.grow(deadline)
    return held.getvalue()


def read_prefix(answer: http.client.HTTPResponse, cap: int) -> bytes:
    """The first `cap` bytes of the body, decoded; the rest is not read."""
    held = bytearray()
    for piece in _pieces(answer):
        held += piece
        if len(held) >= cap:
            break
    return bytes(held[:cap])


def _pieces(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    decode = _decoder(answer.headers.get("Content-Encoding", ""))
    while chunk := answer.read(CHUNK):
        yield from decode.feed(chunk)
    if answer.length or not decode.finished():  # fewer bytes came than were announced
        raise FetchError("incomplete_body")


class _Identity:
    def feed(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk

    def finished(self) -> bool:
        return True


class _Inflate:
    """gzip or deflate, in pieces of bounded size whatever the ratio."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=32 + zlib.MAX_WBITS)  # gzip or zlib, by its header
        self._fed = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        self._fed = True
        try:
            while chunk and not self._stream.eof:  # what follows the first member is padding
                yield self._stream.decompress(chunk, CHUNK)
                chunk = self._stream.unconsumed_tail
        except zlib.error:
            raise FetchError("bad_content_encoding") from None

    def finished(self) -> bool:
        return self._stream.eof or not self._fed


def _decoder(encoding: str) -> _Identity | _Inflate:
    """We ask for none (Accept-Encoding: identity); some servers compress all the same."""
    name = encoding.strip().lower()
    if name in ("", "identity", "none"):
        return _Identity()
    if name in ("gzip", "x-gzip", "deflate"):
        return _Inflate()
    raise FetchError("bad_content_encoding")
