"""Files of detectors: a value as JSON and arrays. Which the package ships, how one is read, and how it is written."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.array_file import json_array, read_arrays

Made = TypeVar("Made")
Arrays = Mapping[str, NDArray[Any]]


def shipped(folder: Path) -> dict[str, str]:
    """The detectors in a folder of the package, by language."""
    return {path.stem: str(path) for path in sorted(folder.glob("*.npz"))}


def read_detector(path: Path, of: Callable[[Arrays], Made], command: str) -> Made:
    """What `of` makes of a file's arrays. Raises `UserError` for any other file, with the command that makes one."""
    try:
        return of(read_arrays(path))
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"detector {path}: cannot be read ({reason}); {command} makes one") from None


def write_detector(path: Path, about: Any, arrays: Arrays) -> None:
    """Write a JSON value, under the name `about`, and arrays: the same bytes for the same values."""
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, about=json_array(about), **arrays)
