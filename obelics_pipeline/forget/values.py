"""Sets of byte strings as sorted files: ids of documents, and keyed hashes. A reader maps one and does not load it.

So a set that every worker asks costs memory once a machine, and only as far as it is looked at.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.storage import Location, read_bytes, size_of, write_bytes
from obelics_pipeline.policy.tombstones.keyed import SIZE, Keyed

Values = npt.NDArray[Any]  # of the kind S: bytes of up to one length, as NumPy has them
ENDING = ".npy"
IDS, KEYS = np.dtype("S32"), np.dtype(f"S{SIZE}")  # doc_ids; keyed hashes, and doc_ids as 16 bytes
OPEN = 16  # sets that a process has mapped
_DIGITS = 16  # of the sha256, in the name of a set


def ids_in(column: pa.ChunkedArray | pa.Array) -> Values:
    """The texts of a column, in its order. None of them may be null."""
    found = pc.cast(column, pa.binary()).to_pylist()
    return np.array(found) if found else np.empty(0, IDS)


def keys_in(column: pa.ChunkedArray | pa.Array) -> Values:
    """The values of `SIZE` bytes of a column of binary, in its order; no other value is one of them."""
    return np.array([value if len(value) == SIZE else b"" for value in column.to_pylist()], KEYS)


def keys_of(keyed: Keyed, kind: bytes, values: Iterable[str | bytes]) -> Values:
    """The keyed hashes of values."""
    data = b"".join(keyed.of(kind, value) for value in values)
    return np.frombuffer(data, KEYS) if data else np.empty(0, KEYS)


def as_bytes(values: Values) -> bytes:
    """Keyed hashes, end to end, as tombstones are stored."""
    return values.astype(KEYS).tobytes()


def as_column(values: Values) -> pa.Array:
    """Keyed hashes as a column: a plain list would lose zeros at their ends."""
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(SIZE), len(values), [None, pa.py_buffer(as_bytes(values))])


def packed(ids: Values) -> Values:
    """doc_ids of 32 hexadecimal digits as 16 bytes; others, which no table holds as bytes, are left out."""
    found = [bytes.fromhex(value.decode()) for value in ids.tolist() if _is_hex(value)]
    return np.unique(np.array(found, KEYS))


def unpacked(keys: Values) -> Values:
    """doc_ids of 16 bytes as 32 digits."""
    data = as_bytes(keys).hex().encode()
    return np.unique(np.frombuffer(data, IDS)) if data else np.empty(0, IDS)


def _is_hex(value: bytes) -> bool:
    return len(value) == 2 * SIZE and all(digit in b"0123456789abcdef" for digit in value)


def among(values: Values, known: Values) -> npt.NDArray[np.bool_]:
    """Which of some values are in a sorted set."""
    if not values.size or not known.size:
        return np.zeros(values.size, bool)
    wanted = values.astype(known.dtype)
    places = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    found: npt.NDArray[np.bool_] = known[places] == wanted
    if values.itemsize > known.itemsize:  # what was cut above
        found &= np.char.str_len(values) <= known.itemsize
    return found


def minus(values: Values, others: Values) -> Values:
    """A sorted set without what is in another."""
    return values[~among(values, others)]


def write_values(folder: Location, name: str, values: Values) -> Location:
    """Put a set into a folder, sorted, under a name that its content ends."""
    data = io.BytesIO()
    np.save(data, np.unique(values), allow_pickle=False)
    content = data.getvalue()
    place = folder / f"{name}-{hashlib.sha256(content).hexdigest()[:_DIGITS]}{ENDING}"
    if size_of(place) != len(content):
        write_bytes(place, content)
    return place


@lru_cache(maxsize=OPEN)
def read_values(place: Location) -> Values:
    """A set that was put there; of a file on a disk only what is looked at is read. Raises Damaged."""
    try:
        if isinstance(place, Path) and place.stat().st_size > 4096:
            found: Values = np.load(place, mmap_mode="r", allow_pickle=False)
        else:
            found = np.load(io.BytesIO(read_bytes(place)), allow_pickle=False)
    except (FileNotFoundError, ValueError, EOFError):
        raise Damaged(str(place)) from None
    return found
