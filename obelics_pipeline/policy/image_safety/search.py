"""Hashes in a form that is fast to search, in files that all processes of a machine share.

A PDQ hash matches another if at most `distance` of their 256 bits differ. Both are cut into bands of bits, and each
band is given a reach, so that the reaches and the number of bands together are `distance` + 1. Two hashes that match
differ in one band by no more than its reach: were every band further apart, the sum would be above `distance`. So it is
enough to compare with the hashes that have a band so near. This is exact, and compares a few thousand of ten million
(Norouzi, Punjani and Fleet, 2012: fast search in Hamming space with multi-index hashing).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

BITS = 256  # of a PDQ hash
WIDEST = 24  # bits of a band: where each value of one begins takes 4 bytes for each
ALL = 20_000  # PDQ hashes up to which all are compared: faster than to look up bands

Words = npt.NDArray[np.uint64]  # (n, bytes of a hash / 8)


@dataclass(frozen=True)
class Hit:
    """A hash of a list: its bytes, how many bits differ, and the number of the list."""

    value: bytes
    distance: int
    list_number: int


class Exact:
    """Hashes of one kind that match as they are."""

    def __init__(self, files: dict[str, npt.NDArray[Any]]) -> None:
        self._first, self._words, self._lists = files["first"], files["words"], files["lists"]

    @staticmethod
    def files(values: bytes, width: int, lists: npt.NDArray[np.uint16]) -> dict[str, npt.NDArray[Any]]:
        """What a search needs, by name: the hashes sorted, each once, with the first list that has it."""
        words = _words(values, width)
        order = np.lexsort((lists, *words.T[::-1]))
        words, lists = words[order], lists[order]
        first = np.ones(len(words), bool)
        first[1:] = (words[1:] != words[:-1]).any(axis=1)
        words = words[first]
        return {"first": np.ascontiguousarray(words[:, 0]), "words": words, "lists": lists[first]}

    def find(self, value: bytes) -> Hit | None:
        """The hash itself, if a list has it."""
        wanted = _words(value, len(value))[0]
        start, stop = (int(np.searchsorted(self._first, wanted[0], side)) for side in ("left", "right"))
        same = np.flatnonzero((self._words[start:stop] == wanted).all(axis=1))
        return Hit(value, 0, int(self._lists[start + same[0]])) if len(same) else None


class Near:
    """PDQ hashes, that match what is near them."""

    def __init__(self, files: dict[str, npt.NDArray[Any]]) -> None:
        self._words, self._lists = files["words"], files["lists"]
        self._rows, self._starts = files.get("rows"), files.get("starts")

    @staticmethod
    def files(values: bytes, lists: npt.NDArray[np.uint16]) -> dict[str, npt.NDArray[Any]]:
        """What a search needs, by name; beyond `ALL` hashes the rows by band, and where each value of a band starts."""
        found = Exact.files(values, 32, lists)
        del found["first"]
        words = found["words"]
        if len(words) <= ALL:
            return found
        wide = band_bits(len(words))
        rows = np.empty((BITS // wide, len(words)), np.uint32)
        starts = np.zeros((BITS // wide, 2**wide + 1), np.uint32)
        for band in range(BITS // wide):
            of_band = _band(words, band, wide)
            rows[band] = np.argsort(of_band, kind="stable")
            np.cumsum(np.bincount(of_band, minlength=2**wide), out=starts[band, 1:])
        return {**found, "rows": rows, "starts": starts}

    def find(self, value: bytes, distance: int) -> Hit | None:
        """The nearest hash within `distance` bits; of several as near the first in order."""
        wanted = _words(value, 32)
        rows = None if self._rows is None or self._starts is None else self._candidates(wanted, distance)
        words = self._words if rows is None else self._words[rows]
        if not len(words):
            return None
        apart = np.bitwise_count(words ^ wanted).sum(axis=1, dtype=np.uint16)
        least = int(apart.min())
        if least > distance:
            return None
        nearest = np.flatnonzero(apart == least)
        row = int(nearest[0] if rows is None else rows[nearest].min())
        return Hit(self._words[row].astype(">u8").tobytes(), least, int(self._lists[row]))

    def _candidates(self, wanted: Words, distance: int) -> npt.NDArray[np.int64]:
        """Rows that have a band within reach; some more than once."""
        assert self._rows is not None and self._starts is not None
        bands, n = self._rows.shape
        wide = int(self._starts.shape[1] - 1).bit_length() - 1
        places, lengths = [], []
        for band, reach in enumerate(reaches(bands, distance)):
            near = _band(wanted, band, wide)[0] ^ flips(wide, reach)
            begin = self._starts[band][near].astype(np.int64)
            lengths.append(self._starts[band][near + 1].astype(np.int64) - begin)
            places.append(begin + band * n)
        first, of = np.concatenate(places), np.concatenate(lengths)
        ends = np.cumsum(of)
        at = np.arange(ends[-1]) + np.repeat(first - (ends - of), of)
        found: npt.NDArray[np.int64] = self._rows.reshape(-1)[at].astype(np.int64)
        return found


def band_bits(n: int) -> int:
    """Bits of a band for so many hashes: about four of them share a value."""
    return min(WIDEST, max(8, n.bit_length() - 2))


def reaches(bands: int, distance: int) -> list[int]:
    """How many bits each band may differ by, for those that are to be looked at: they and their number sum up to
    `distance` + 1."""
    least, more = divmod(distance + 1, bands)
    return [least] * more + [least - 1] * (bands - more if least else 0)


@cache
def flips(wide: int, reach: int) -> npt.NDArray[np.int64]:
    """All values of a band of so many bits with at most `reach` of them set: what leads to the values near one."""
    values = [sum(1 << bit for bit in bits) for n in range(reach + 1) for bits in combinations(range(wide), n)]
    return np.array(values, np.int64)


def _band(words: Words, band: int, wide: int) -> npt.NDArray[np.int64]:
    """A band of each hash; one may lie across two words."""
    word, bit = divmod(band * wide, 64)
    values = words[:, word] >> np.uint64(bit)
    if bit + wide > 64:
        values |= words[:, word + 1] << np.uint64(64 - bit)
    return (values & np.uint64(2**wide - 1)).astype(np.int64)


def _words(values: bytes, width: int) -> Words:
    """Hashes as words; the order of words is that of the hexadecimal digits."""
    found: Words = np.frombuffer(values, ">u8").astype(np.uint64).reshape(-1, width // 8)
    return found


def made(kind: str, values: bytes, width: int, lists: npt.NDArray[np.uint16]) -> dict[str, npt.NDArray[Any]]:
    """The files of a search for hashes of a kind, each of `width` bytes; `lists` says for each of which list it is."""
    return Near.files(values, lists) if kind == "pdq" else Exact.files(values, width, lists)


def save(folder: Path, name: str, files: dict[str, npt.NDArray[Any]]) -> None:
    """Write the files of a search."""
    for part, values in files.items():
        np.save(folder / f"{name}.{part}.npy", values, allow_pickle=False)


def opened(folder: Path, name: str) -> dict[str, npt.NDArray[Any]]:
    """The files of a search, mapped into memory; empty where there are none."""
    found = sorted(folder.glob(f"{name}.*.npy"))
    return {path.name.split(".")[1]: np.load(path, mmap_mode="r", allow_pickle=False) for path in found}
