"""The entries of a list as sorted hashes in one file, which processes share as mapped memory.

A look-up hashes the name, finds where hashes that begin with the same bits stand, and searches these few: well below a
microsecond, at 8 bytes an entry and 4 for each group. Two of five million names have the same hash with a chance of
1 in 10^6; a name that is not on the list is taken for one with a chance of 1 in 10^12.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

MAGIC = b"obelics-table-1\n"
SEED = 8  # any: it keeps our hashes apart from others'
MAX_ENTRIES = 200_000_000
_HEADER = struct.Struct("<16sQQQQB7x")  # magic, entries, URLs among them, lines, bad lines, bits of a group
_DIGEST = 16  # bytes of the checksum, of all that follows it
_PER_GROUP = 4  # entries, about


class Counts(NamedTuple):
    """What a list had: its entries, how many of them are URLs, its lines, and how many were neither nor empty."""

    entries: int
    urls: int
    lines: int
    bad_lines: int


class Damaged(Exception):
    """A file that is no table, or not as it was written."""


class Table:
    """Whether a name is among the entries. Thread-safe, read-only."""

    def __init__(self, path: Path) -> None:
        """Map a file that `write_table` wrote. Raises Damaged where it is not whole, OSError where it is not there."""
        with path.open("rb") as file:
            try:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:
                raise Damaged(f"{path} is empty") from None
        begin = _DIGEST + _HEADER.size
        content = memoryview(self._map)
        if len(content) < begin or content[:_DIGEST] != xxhash.xxh3_128_digest(content[_DIGEST:]):
            raise Damaged(f"{path} is not as it was written")
        magic, *counts, bits = _HEADER.unpack_from(self._map, _DIGEST)
        if magic != MAGIC:
            raise Damaged(f"{path} is no table")
        self.counts = Counts(*counts)
        index_bytes = 4 * ((1 << bits) + 1)
        self._index = content[begin : begin + index_bytes].cast("I")
        self._shift = 64 - bits
        self._first = begin + index_bytes + (-index_bytes) % 8
        self._find = self._map.find

    def __contains__(self, name: str) -> bool:
        key = xxhash.xxh64_digest(name.encode(), SEED)
        group = int.from_bytes(key, "big") >> self._shift
        index, first = self._index, self._first
        end = first + 8 * index[group + 1]
        place = self._find(key, first + 8 * index[group], end)
        while place >= 0 and (place - first) % 8:  # across two entries: not one
            place = self._find(key, place + 1, end)
        return place >= 0


class TableWriter:
    """Gathers entries; `write` puts them in a file."""

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._urls = 0

    def add(self, entries: Iterable[str]) -> None:
        """Add canonical entries (see `entry`)."""
        for entry in entries:
            self._hashes.append(xxhash.xxh64_intdigest(entry.encode(), SEED))
            self._urls += "/" in entry or "?" in entry

    def __len__(self) -> int:
        return len(self._hashes)

    def write(self, path: Path, lines: int, bad_lines: int) -> None:
        """Write the table, whole or not at all; the same entries give the same bytes."""
        hashes = np.unique(np.frombuffer(self._hashes, np.uint64)) if len(self._hashes) else np.empty(0, np.uint64)
        bits = max(1, (len(hashes) // _PER_GROUP).bit_length())
        edges = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
        index = np.append(np.searchsorted(hashes, edges), len(hashes)).astype("<u4")
        padding = b"\0" * ((-index.nbytes) % 8)
        header = _HEADER.pack(MAGIC, len(hashes), self._urls, lines, bad_lines, bits)
        pieces = [header, index.tobytes(), padding, hashes.astype(">u8").tobytes()]
        digest = xxhash.xxh3_128()
        for piece in pieces:
            digest.update(piece)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".tmp-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(digest.digest())
                for piece in pieces:
                    file.write(piece)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
