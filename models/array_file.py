"""Files of NumPy arrays that may be a stranger's: nothing is unpickled, and no array is larger than a bound."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_BYTES = 64 * 2**20  # of one array: those of the shipped models are below 3 MiB


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name. Raises OSError, ValueError, EOFError and BadZipFile for what is no such file."""
    with zipfile.ZipFile(path) as archive:
        if large := [entry.filename for entry in archive.infolist() if entry.file_size > _MOST_BYTES]:
            raise ValueError(f"{large[0]} has more than {_MOST_BYTES} bytes")
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def json_array(value: Any) -> NDArray[np.uint8]:
    """A value as JSON with sorted keys, as an array of bytes."""
    return np.frombuffer(json.dumps(value, ensure_ascii=False, sort_keys=True).encode(), np.uint8)
