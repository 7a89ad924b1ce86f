"""Hashes in a form that is fast to search, in files that all processes of a machine share.

A PDQ hash matches another if at most `distance` of their 256 bits differ. Cut into 16 bands of 16 bits, two that match
differ in one band by `distance // 16` bits at most (pigeonhole: were each band further apart, the sum would be above
`distance`), so it is enough to compare with the hashes that have a band so near: exact, and at a distance of 31 a
240th of the list (Norouzi et al., 2012: multi-index hashing).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

BANDS, BAND_BITS = 16, 16
VALUES = 2**BAND_BITS
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
        words = found["words"]
        if len(words) <= ALL:
            return found
        bands = words.view(np.uint16).reshape(len(words), BANDS)
        rows = np.empty((BANDS, len(words)), np.uint32)
        starts = np.empty((BANDS, VALUES + 1), np.int64)
        for band in range(BANDS):
            values_of_band = np.ascontiguousarray(bands[:, band])
            rows[band] = np.argsort(values_of_band, kind="stable")
            starts[band] = np.concatenate([[0], np.cumsum(np.bincount(values_of_band, minlength=VALUES))])
        return {**found, "rows": rows, "starts": starts}

    def find(self, value: bytes, distance: int) -> Hit | None:
        """The nearest hash within `distance` bits; of several as near the first in order."""
        wanted = _words(value, 32)[0]
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
        near = wanted.view(np.uint16)[:, None] ^ flips(distance // BANDS)[None, :]
        bands = np.arange(BANDS)[:, None]
        starts = self._starts[bands, near]
        lengths = (self._starts[bands, near.astype(np.int64) + 1] - starts).ravel()
        first = (starts + bands * self._rows.shape[1]).ravel()
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) + np.repeat(first - (ends - lengths), lengths)
        found: npt.NDArray[np.int64] = self._rows.reshape(-1)[places].astype(np.int64)
        return found


@cache
def flips(radius: int) -> npt.NDArray[np.uint16]:
    """All values of a band with at most so many bits set: what a band is changed by to reach those near it."""
    values = [sum(1 << bit for bit in bits) for n in range(radius + 1) for bits in combinations(range(BAND_BITS), n)]
    return np.array(values, np.uint16)


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
