"""WARC files that lie in a run's own folder: the records of forgotten pages blanked, everything else where it was.

A record is a gzip member, and later runs find records by their place in the file. So a blank member is as long as the
one that it stands for: what it lacks is filled up in the header's extra field (RFC 1952, 2.3.1.1).
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from obelics_pipeline.core.storage import draft

ENDING = ".warc.gz"
HEAD = 65_536  # bytes of a record in which its address is looked for
PIECE = 2**20
MOST_EXTRA = 60_000  # bytes of an extra field; it may have 65,535
_ADDRESS = re.compile(rb"^WARC-Target-URI:[ \t]*<?([^\r\n>]*)>?[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_BLANK = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n"


def blank_records(path: Path, is_gone: Callable[[str], bool]) -> int:
    """Blank the records of removed URLs; returns how many. The file keeps its size and date, so it is no new input.

    From the first byte that is not gzip on, a file is left as it is.
    """
    if not any(is_gone(url) for url in _addresses(path)):
        return 0
    state, blanked = path.stat(), 0
    with draft(path) as new, path.open("rb") as source, new.open("wb") as sink:
        for start, stop, url in _members(source):
            source.seek(start)
            data = source.read(stop - start)
            if url is not None and is_gone(url):
                data, blanked = blank_member(len(data)), blanked + 1
            sink.write(data)
        sink.flush()
        os.utime(new, ns=(state.st_atime_ns, state.st_mtime_ns))
    return blanked


def blank_member(size: int) -> bytes:
    """A gzip member of just so many bytes that holds an empty record; one that holds nothing where it is too short."""
    zeros = max(0, size - MOST_EXTRA)
    while True:
        record = _BLANK % zeros + bytes(zeros) + b"\r\n\r\n"
        level = 0 if zeros else 9
        body = _deflated(record, level)
        if size - len(body) - 18 in (1, *range(-len(body) - 18, 0)):  # one byte is no extra field
            if zeros:
                zeros = max(0, zeros - 64)
                continue
            record, body = b"", _deflated(b"", 9)
        break
    missing = size - len(body) - 18
    if missing < 0 or missing == 1:
        return bytes(size)  # shorter than any member: readers look for the next one
    extra = struct.pack("<H", missing - 2) + bytes(missing - 2) if missing else b""
    head = b"\x1f\x8b\x08" + (b"\x04" if extra else b"\x00") + bytes(4) + b"\x00\xff"
    return head + extra + body + struct.pack("<II", zlib.crc32(record), len(record) & 0xFFFFFFFF)


def _deflated(data: bytes, level: int) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def _addresses(path: Path) -> Iterator[str]:
    with path.open("rb") as source:
        yield from (url for _, _, url in _members(source) if url is not None)


def _members(source: IO[bytes]) -> Iterator[tuple[int, int, str | None]]:
    """The start and end of each gzip member and the URL of its record. Bytes that are not gzip are one last piece."""
    start = 0
    while True:
        source.seek(start)
        unpacker, head, stop = zlib.decompressobj(31), b"", start
        try:
            while not unpacker.eof:
                piece = source.read(PIECE)
                if not piece:
                    break
                while piece:
                    out = unpacker.decompress(piece, PIECE)
                    head += out[: max(0, HEAD - len(head))]
                    left = unpacker.unconsumed_tail
                    stop += len(piece) - len(left) - (len(unpacker.unused_data) if unpacker.eof else 0)
                    piece = b"" if unpacker.eof else left
        except zlib.error:
            unpacker = zlib.decompressobj(31)
        if not unpacker.eof:
            source.seek(0, 2)
            if source.tell() > start:
                stop = _next(source, start)
                yield start, stop, None
                start = stop
                continue
            return
        found = _ADDRESS.search(head.partition(b"\r\n\r\n")[0])
        yield start, stop, None if found is None else found[1].decode("utf-8", "replace")
        start = stop


def _next(source: IO[bytes], start: int) -> int:
    """Where the next member may begin after one that is damaged; the end of the file where none does."""
    source.seek(start + 1)
    at, before = start + 1, b""
    while piece := source.read(PIECE):
        found = (before + piece).find(b"\x1f\x8b\x08")
        if found >= 0:
            return at - len(before) + found
        at, before = at + len(piece), piece[-2:]
    return at
