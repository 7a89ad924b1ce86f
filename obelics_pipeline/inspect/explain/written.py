"""An explanation of several files, written into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location, write_bytes


def write_all(output: Location, files: Mapping[str, str]) -> None:
    """Write texts by their names, each whole or not at all. Raises UserError where they cannot be written."""
    try:
        if isinstance(output, Path):
            output.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_bytes(output / name, text.encode())
    except OSError as error:
        raise UserError(f"--output {output}: cannot be written: {error.strerror}; give another folder") from None
