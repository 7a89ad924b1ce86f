"""Many files that must change together: staged beside their final paths, noted in one list, then moved.

The list is the commit. Before it exists nothing has changed, and a full disk does no harm; afterwards a killed move is
resumed.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

from obelics_pipeline.core.access import reaching
from obelics_pipeline.core.storage import (
    Location,
    at_once,
    draft_for,
    put,
    read_bytes,
    remove,
    remove_tree,
    size_of,
    sync,
    write_bytes,
)

LIST = "switch.json"


class Switch:
    """Files on their way. `root` is the run's folder, `folder` where they are staged: on the same file system.

    Units stage theirs beside that folder (see `take`).
    """

    def __init__(self, root: Location, folder: Location) -> None:
        self._root, self._folder = root, folder
        self._moves: list[tuple[str, str]] = []  # staged name, name below the root
        self._removes: list[str] = []

    def finish_earlier(self) -> bool:
        """Go on with what was decided before a kill, and sweep what was not; whether there was something."""
        try:
            value = json.loads(read_bytes(self._folder / LIST))
        except FileNotFoundError:
            remove_tree(self._folder)
            return False
        self._moves, self._removes = [(a, b) for a, b in value["moves"]], list(value["removes"])
        self._move()
        return True

    def draft(self, suffix: str) -> Path:
        """A local path to write a file to that will be staged."""
        if isinstance(self._folder, Path):
            self._folder.mkdir(parents=True, exist_ok=True)
            return self._folder / f"{secrets.token_hex(8)}{suffix}"
        return draft_for(self._folder, suffix)

    def stage(self, path: Path, name: str) -> None:
        """Stage a whole local file for a path below the root."""
        staged = self._folder / (path.name if path.parent == self._folder else f"{secrets.token_hex(8)}{path.suffix}")
        if path == staged:
            sync(path)
        else:
            put(path, staged)
        self._moves.append((staged.name, name))

    def stage_bytes(self, data: bytes, name: str) -> None:
        """Stage bytes for a path below the root."""
        path = self.draft(Path(name).suffix)
        path.write_bytes(data)
        self.stage(path, name)

    def take(self, place: Location, name: str) -> None:
        """Stage a whole file that a unit committed somewhere beside the folder, for a path below the root."""
        self._moves.append((str(place).removeprefix(f"{self._folder.parent}/"), name))

    def drop(self, name: str) -> None:
        """A file below the root is to be removed."""
        self._removes.append(name)

    def go(self) -> None:
        """Decide, and do it."""
        if self._moves or self._removes:
            write_bytes(self._folder / LIST, json.dumps({"moves": self._moves, "removes": self._removes}).encode())
            self._move()

    def _move(self) -> None:
        if isinstance(self._root, Path):
            for staged, name in self._moves:
                self._move_one(staged, name)
        else:
            at_once(lambda move: self._move_one(*move), self._moves)
        remove(self._root / name for name in self._removes)
        remove([self._folder / LIST])
        remove_tree(self._folder)
        self._moves, self._removes = [], []

    def _move_one(self, staged: str, name: str) -> None:
        source, target = (self._folder.parent if "/" in staged else self._folder) / staged, self._root / name
        if isinstance(source, Path) or isinstance(target, Path):
            assert isinstance(source, Path) and isinstance(target, Path), "below one root"
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # moved before a kill
                os.replace(source, target)
        elif size_of(source) is not None:
            with reaching(target):
                target.fs.copy(source.path, target.path)
