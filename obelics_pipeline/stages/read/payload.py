"""From the body of an HTTP message to the bytes of the page: transfer and content codings, in bounded memory.

Headers lie: many crawlers decode the body and keep the header. A body that plainly is text is taken as it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import zstandard

MAX_CODINGS = 5  # stacked codings beyond this are an attack (browsers and curl stop at about as many)
ZSTD_WINDOW = 8 * 2**20  # bytes: the limit of RFC 9659 for zstd on the web
TEXT_SAMPLE = 1024
PIECE = 64 * 1024  # encoded bytes given to a decoder at a time


class PayloadTooLargeError(Exception):
    """The body decodes to more bytes than allowed."""


class BadEncodingError(Exception):
    """The body is not what its headers say, nor text."""


def decode_payload(body: bytes, transfer: str | None, content: str | None, limit: int) -> bytes:
    """The page's bytes: at most `limit`, else PayloadTooLargeError. Raises BadEncodingError for what cannot be decoded.

    `transfer` and `content` are the values of Transfer-Encoding and Content-Encoding. A body that ends too early
    (crawlers cut at a length) gives what there is.
    """
    codings = _names(content) + _names(transfer)
    if len(codings) > MAX_CODINGS:
        raise BadEncodingError("too many codings")
    for name in reversed(codings):
        body = _decode(name, body, limit)
    if len(body) > limit:
        raise PayloadTooLargeError
    return body


def _names(value: str | None) -> list[str]:
    names = [name.strip().lower() for name in (value or "").split(",")]
    return [name for name in names if name and name not in ("identity", "none", "utf-8", "8bit", "binary")]


def _decode(name: str, body: bytes, limit: int) -> bytes:
    """Undo one coding; a body that is text already is left as it is."""
    decoder = DECODERS.get(name)
    if not body:
        return body
    try:
        if decoder is None:
            raise BadEncodingError(name)
        return decoder(body, limit)
    except BadEncodingError:
        if looks_like_text(body):
            return body
        raise


def looks_like_text(body: bytes) -> bool:
    """Whether the beginning of a body has no control bytes but white space: no compressed stream begins like that."""
    sample = body[:TEXT_SAMPLE].removeprefix(b"\xef\xbb\xbf")
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return True
    control = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in sample)
    return bool(sample) and control * 100 <= len(sample) and (b"<" in sample or control == 0)


def _chunked(body: bytes, limit: int) -> bytes:
    out = bytearray()
    position = 0
    while position < len(body):
        line_end = body.find(b"\n", position, position + 4096)
        if line_end < 0:
            break
        size_text = body[position:line_end].split(b";")[0].strip()
        if not size_text and out:  # the CRLF that closes a chunk
            position = line_end + 1
            continue
        if not size_text or len(size_text) > 8 or size_text.strip(b"0123456789abcdefABCDEF"):
            if out:
                break
            raise BadEncodingError("not chunked")
        size = int(size_text, 16)
        if size == 0:
            return bytes(out)
        out += body[line_end + 1 : line_end + 1 + size]
        if len(out) > limit:
            raise PayloadTooLargeError
        position = line_end + 1 + size
    if not out:
        raise BadEncodingError("not chunked")
    return bytes(out)


def _inflate(body: bytes, limit: int, wbits: int) -> bytes:
    out = bytearray()
    rest = body
    while rest:
        decoder = zlib.decompressobj(wbits)
        try:
            out += decoder.decompress(rest, limit + 1 - len(out))
        except zlib.error as error:
            if out:  # bytes after a whole gzip member: padding, or rubbish of the server
                break
            raise BadEncodingError(str(error)) from None
        if len(out) > limit:
            raise PayloadTooLargeError
        rest = decoder.unused_data if decoder.eof and wbits == 31 else b""
    return bytes(out)


def _gzip(body: bytes, limit: int) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        raise BadEncodingError("not gzip")
    return _inflate(body, limit, 31)


def _deflate(body: bytes, limit: int) -> bytes:
    """zlib's format, as the standard says, or bare deflate, as some servers send."""
    try:
        return _inflate(body, limit, 15)
    except BadEncodingError:
        if looks_like_text(body):
            raise
        return _inflate(body, limit, -15)


def _brotli(body: bytes, limit: int) -> bytes:
    out = bytearray()
    decoder = brotli.Decompressor()
    try:
        for start in range(0, len(body), PIECE):
            out += decoder.process(body[start : start + PIECE], output_buffer_limit=limit + 1 - len(out))
            while not decoder.can_accept_more_data():
                if len(out) > limit:
                    raise PayloadTooLargeError
                out += decoder.process(b"", output_buffer_limit=limit + 1 - len(out))
            if len(out) > limit:
                raise PayloadTooLargeError
            if decoder.is_finished():
                break
    except brotli.error as error:
        raise BadEncodingError(str(error)) from None
    return bytes(out)


def _zstd(body: bytes, limit: int) -> bytes:
    if not body.startswith(b"\x28\xb5\x2f\xfd"):
        raise BadEncodingError("not zstd")
    out = bytearray()
    try:
        with zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).stream_reader(body) as reader:
            while data := reader.read(min(PIECE, limit + 1 - len(out))):
                out += data
                if len(out) > limit:
                    raise PayloadTooLargeError
    except zstandard.ZstdError as error:
        if not out:
            raise BadEncodingError(str(error)) from None
    return bytes(out)


DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "chunked": _chunked,
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
