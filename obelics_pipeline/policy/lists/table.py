"""The entries of a list as hashes in one file, which processes share as mapped memory.

An entry's hash stands at the place that its first bits name, or right behind it, in rising order; half of the places at
least are empty. A look-up hashes the name and reads one or two places: half a microsecond, at 16 to 32 bytes an entry.
Two of five million names have the same hash with a chance of 1 in 10^6; a name that is not on the list is taken for one
that is with a chance of 1 in 10^12.
"""

from __future__ import annotations

import mmap
import struct
import sys
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from obelics_pipeline.core.storage import Location, draft, read_bytes

MAGIC = b"obelics-table-2\n"
SEED = 8  # any: it keeps our hashes apart from others'
MAX_ENTRIES = 200_000_000
_HEADER = struct.Struct("<16sQQQQB7x")  # magic, entries, URLs among them, lines, bad lines, bits of a place
_DIGEST = 16  # bytes of the checksum, of all that follows it
_BITS = 64


class ListCounts(NamedTuple):
    """The counts of a list: its entries, how many of them are URLs, its lines, and those that are neither entry nor
    empty.
    """

    entries: int
    urls: int
    lines: int
    bad_lines: int


class Damaged(Exception):
    """A file is not a table, or differs from what was written."""


class Table:
    """Whether a name is among the entries. Thread-safe, read-only."""

    def __init__(self, where: Location) -> None:
        """Open a file that `TableWriter` wrote. Raises Damaged where it is not whole, OSError where it is not there.

        A file of this machine is mapped; one of an object store is held in memory.
        """
        content = memoryview(_mapped(where) if isinstance(where, Path) else read_bytes(where))
        begin = _DIGEST + _HEADER.size
        if len(content) < begin or content[:_DIGEST] != xxhash.xxh3_128_digest(content[_DIGEST:]):
            raise Damaged(f"{where} is not as it was written")
        magic, *counts, bits = _HEADER.unpack_from(content, _DIGEST)
        if magic != MAGIC or sys.byteorder != "little":
            raise Damaged(f"{where} is no table of this version and machine")
        self.counts = ListCounts(*counts)
        self._places = content[begin:].cast("Q")
        self._shift = _BITS - bits

    def __contains__(self, name: str) -> bool:
        key = xxhash.xxh64_intdigest(name.encode("utf-8", "surrogatepass"), SEED)
        places, place = self._places, key >> self._shift
        while 0 < (there := places[place]) <= key:
            if there == key:
                return True
            place += 1
        return False


class TableWriter:
    """Gathers entries; `write` puts them in a file."""

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._urls = 0

    def add(self, entries: Iterable[str]) -> None:
        """Add entries in the spelling in which they are looked up."""
        for entry in entries:
            self._hashes.append(xxhash.xxh64_intdigest(entry.encode("utf-8", "surrogatepass"), SEED))
            self._urls += "/" in entry or "?" in entry

    def __len__(self) -> int:
        return len(self._hashes)

    def write(self, where: Location, lines: int, bad_lines: int) -> None:
        """Write the table, whole or not at all; the same entries give the same bytes."""
        hashes = np.array(self._hashes, np.uint64)
        self._hashes = array("Q")
        hashes.sort()
        hashes = hashes[np.append(True, hashes[1:] != hashes[:-1])] if len(hashes) else hashes
        bits = max(4, (2 * len(hashes)).bit_length())
        # Each stands at its place, or behind the one before it: hashes rise, so places do.
        home = (hashes >> np.uint64(_BITS - bits)).astype(np.int64)
        order = np.arange(len(hashes))
        home -= order
        np.maximum.accumulate(home, out=home)
        home += order
        places = np.zeros(max(1 << bits, int(home[-1]) + 1 if len(home) else 0) + 1, "<u8")
        places[home] = hashes
        header = _HEADER.pack(MAGIC, len(hashes), self._urls, lines, bad_lines, bits)
        digest = xxhash.xxh3_128(header)
        digest.update(places.view(np.uint8).data)
        with draft(where) as path, path.open("xb") as file:
            file.write(digest.digest() + header)
            file.write(places.view(np.uint8).data)


def _mapped(path: Path) -> mmap.mmap | bytes:
    with path.open("rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file cannot be mapped
            return b""
