"""metrics.jsonl and its like: one line as it happens, readable by others at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from obelics_pipeline.core.errors import UserError

PIECE = 64 * 1024  # bytes: longer than a line
METRICS, EVALUATIONS = "metrics.jsonl", "evaluations.jsonl"


class Journal:
    """Appends JSON lines to a file; each is handed to the system as a whole before `write` returns.

    Nothing is buffered: a buffer of ten minutes hid the loss of a training from its authors (IDEFICS, memo).
    """

    def __init__(self, path: Path) -> None:
        if path.exists():
            cut_half_line(path)
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, _k: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        os.close(self._handle)

    def write(self, line: Mapping[str, Any]) -> None:
        """Append one line. Raises OSError, and ValueError for a number that JSON does not have."""
        os.write(self._handle, (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode())


def cut_half_line(path: Path) -> None:
    """Cut off half a line that a killed process left. Only the end of the file is read."""
    with path.open("r+b") as file:
        at = file.seek(0, os.SEEK_END)
        while at:
            at = max(0, at - PIECE)
            file.seek(at)
            found = file.read(PIECE).rfind(b"\n")
            if found >= 0:
                file.truncate(at + found + 1)
                return
        file.truncate(0)


def newest_first(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal from its end on, of which only what is asked for is read; as `read_journal` else."""
    if not path.exists():
        return
    with path.open("rb") as file:
        at = file.seek(0, os.SEEK_END)
        rest, whole = b"", False
        while at:
            size = min(PIECE, at)
            at -= size
            file.seek(at)
            rest, *lines = (file.read(size) + rest).split(b"\n")
            if lines and not whole:
                lines.pop()  # what follows the last end of a line
                whole = True
            yield from map(json.loads, reversed(lines))
        if whole:
            yield json.loads(rest)


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal; a last one that is not whole yet is left out. Nothing where there is no file.

    Raises UserError for a line that is no JSON object.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                value = json.loads(line)
            except ValueError:
                value = None
            if not isinstance(value, dict):
                raise UserError(f"{path}:{number}: not a JSON object; the file is damaged, take it from a copy")
            yield value
