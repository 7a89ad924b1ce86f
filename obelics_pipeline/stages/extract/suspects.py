"""Finding the page that takes its worker down, so that it costs itself and not its unit.

A first death may have any cause. From the second try on, the offset of each page is noted before the page is
touched; the last note of a try that died accuses a page, and a page accused three times is skipped.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

ACCUSED_TIMES = 3  # one accusation may be chance (somebody killed the worker); three at the same page are not
_NEW_TRY = "try"


class Suspects:
    """The notes of one unit's tries. Inactive, and free, on the first."""

    def __init__(self, notes: Path, crashes: int) -> None:
        self._notes, self._active = notes, crashes > 0
        self._stream: IO[str] | None = None
        self.guilty: frozenset[str] = frozenset()

    def __enter__(self) -> Suspects:
        if self._active:
            self._notes.parent.mkdir(parents=True, exist_ok=True)
            self.guilty = _guilty(self._notes)
            self._stream = self._notes.open("a", encoding="utf-8")
            self._stream.write(f"{_NEW_TRY}\n")
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def touch(self, page: str) -> None:
        """Note that this page is next. A killed process loses nothing: the note has left it."""
        if self._stream is not None:
            self._stream.write(f"{page}\n")
            self._stream.flush()

    def forget(self) -> None:
        """The unit is done: its notes are of no more use."""
        self._notes.unlink(missing_ok=True)


def _guilty(notes: Path) -> frozenset[str]:
    if not notes.exists():
        return frozenset()
    tries = notes.read_text(encoding="utf-8").split(f"{_NEW_TRY}\n")[1:]
    accused = [pages.split("\n")[-2] for pages in tries if pages.count("\n")]
    return frozenset(page for page in accused if accused.count(page) >= ACCUSED_TIMES)
