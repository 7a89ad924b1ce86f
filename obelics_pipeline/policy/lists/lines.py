"""The lines of a file that somebody else wrote, of any size: unpacked, bounded, and none of them trusted."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Protocol

import zstandard

from obelics_pipeline.core.errors import UserError

ZSTD_WINDOW = 128 * 2**20  # bytes: what `zstd --long` needs and no more
_FED = 2**10  # bytes that are unpacked at once: they become 32 MiB at most
_BOM = b"\xef\xbb\xbf"


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def read_lines(
    pieces: Iterable[bytes], said: str, max_bytes: int, max_line: int, if_larger: str = "is it the right file?"
) -> Iterator[bytes | None]:
    """The lines of a content, without their ends, in order; None for one of more than `max_line` bytes.

    gzip and Zstandard are unpacked, whatever the file is called. Raises UserError, with `said` before it, for what
    cannot be read, is damaged, or has more than `max_bytes` when unpacked; then `if_larger` says what to do.
    """
    try:
        yield from _lines(_bounded(_unpacked(pieces), said, max_bytes, if_larger), max_line)
    except OSError as error:
        raise UserError(f"{said}: cannot be read ({error.strerror or type(error).__name__})") from None
    except (EOFError, zlib.error, zstandard.ZstdError) as error:
        why = str(error).partition("\n")[0][:200]
        raise UserError(f"{said}: is damaged ({why}); get it again") from None


def _lines(pieces: Iterable[bytes], max_line: int) -> Iterator[bytes | None]:
    held, too_long, begun = b"", False, False
    for piece in pieces:
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            yield None if too_long or len(line) > max_line else line if begun else line.removeprefix(_BOM)
            too_long, begun = False, True
        if too_long or len(held) > max_line:
            held, too_long = b"", True
    if held or too_long:
        yield None if too_long else held if begun else held.removeprefix(_BOM)


def _bounded(pieces: Iterable[bytes], said: str, max_bytes: int, if_larger: str) -> Iterator[bytes]:
    read = 0
    for piece in pieces:
        read += len(piece)
        if read > max_bytes:
            raise too_large(said, max_bytes, if_larger)
        yield piece


def too_large(said: str, max_bytes: int, if_larger: str) -> UserError:
    """What is said of a list that is larger than it may be when unpacked."""
    return UserError(f"{said}: has more than {max_bytes:,} bytes, unpacked; {if_larger}")


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The content of every gzip member or Zstandard frame; what begins as neither is as it is."""
    rest = iter(pieces)
    first = next(rest, b"")
    unpacker_of = _unpacker_of(first)
    if unpacker_of is None:
        yield from chain((first,), rest)
        return
    unpacker = unpacker_of()
    for piece in chain((first,), rest):
        for begin in range(0, len(piece), _FED):
            fed = piece[begin : begin + _FED]
            while fed:
                if unpacker.eof:
                    unpacker = unpacker_of()
                yield unpacker.decompress(fed)
                fed = unpacker.unused_data
    if not unpacker.eof:
        raise EOFError("it ends too early")


def _unpacker_of(first: bytes) -> Callable[[], _Unpacker] | None:
    if first[:2] == b"\x1f\x8b":
        return lambda: zlib.decompressobj(31)
    if first[:4] == b"\x28\xb5\x2f\xfd" or first[1:4] == b"\x2a\x4d\x18":  # the latter is a frame to be skipped
        return lambda: zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj()
    return None
