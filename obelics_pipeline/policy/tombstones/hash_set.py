"""A set of hashes as one sorted file: sixteen bytes each, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.storage import Location, create, read_bytes
from obelics_pipeline.policy.tombstones.keyed import SIZE

ENDING = ".hashes"
_FILTER = 16  # bits for each hash: what is not in the set is told by one look in fifteen of sixteen cases


class HashSet:
    """Hashes in memory: 28 bytes each, whatever Python takes for objects."""

    def __init__(self, data: bytes) -> None:
        """Hashes in one byte string, in any order. Raises ValueError if its length is not a multiple of a hash's."""
        if len(data) % SIZE:
            raise ValueError(f"{len(data)} bytes are no whole number of hashes")
        pairs = np.frombuffer(data, ">u8").reshape(-1, 2).astype(np.uint64)
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        self._first: npt.NDArray[np.uint64] = np.ascontiguousarray(pairs[:, 0])
        self._second: npt.NDArray[np.uint64] = np.ascontiguousarray(pairs[:, 1])
        bits = 1 << max(int(self._first.size * _FILTER - 1).bit_length(), 6)
        self._mask = bits - 1
        filled = np.zeros(bits // 8, np.uint8)
        places = self._second & np.uint64(self._mask)
        np.bitwise_or.at(filled, places >> np.uint64(3), np.uint8(1) << (places & np.uint64(7)).astype(np.uint8))
        self._filter = filled.tobytes()

    def __len__(self) -> int:
        return int(self._first.size)

    def __contains__(self, hash_: bytes) -> bool:
        place = int.from_bytes(hash_[8:], "big") & self._mask
        if not self._filter[place >> 3] >> (place & 7) & 1:
            return False
        first, second = np.frombuffer(hash_, ">u8").astype(np.uint64)
        at, stop = (int(np.searchsorted(self._first, first, side)) for side in ("left", "right"))
        return bool((self._second[at:stop] == second).any())


def sorted_hashes(hashes: Iterable[bytes]) -> bytes:
    """Distinct hashes in order, end to end."""
    data = bytearray()
    for hash_ in hashes:
        data += hash_
    pairs = np.frombuffer(bytes(data), ">u8").reshape(-1, 2)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    new = np.append(True, (np.diff(pairs, axis=0) != 0).any(axis=1))[: len(pairs)]
    return bytes(pairs[new].tobytes())


def write_hashes(folder: Location, hashes: Iterable[bytes], prefix: str = "") -> str | None:
    """Put hashes into a folder, as a file that is named by its content; its name, None where there are no hashes."""
    data = sorted_hashes(hashes)
    if not data:
        return None
    name = f"{prefix}{content_name(data)}"
    create(folder / name, data)
    return name


def content_name(data: bytes) -> str:
    """The name of a file of hashes."""
    return f"{hashlib.sha256(data).hexdigest()[:16]}{ENDING}"


def read_hashes(place: Location) -> bytes:
    """The hashes of a file, end to end. Raises OSError, or ValueError for a damaged one."""
    data = read_bytes(place)
    name = place.name.removesuffix(ENDING).rpartition("-")[2]
    if hashlib.sha256(data).hexdigest()[:16] != name:
        raise ValueError("its content has another sha256 than its name")
    return data
