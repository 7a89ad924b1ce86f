"""A disk that fails when a seed says so: a process that dies at an operation, a full disk, a power cut.

Operations of Python below one folder are counted: opening to write, renaming, linking, removing, making folders, and
syncing. What a power cut leaves is drawn for each file: the content of a file that was never synced may be gone, cut or
zeros; a name that was given after its folder was synced may be gone; a file that was removed since may be back.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

OPERATIONS = {
    "os.rename": 1,
    "os.link": 1,
    "os.symlink": 1,
    "os.remove": 0,
    "os.mkdir": 0,
    "os.rmdir": 0,
}  # -> which argument it changes
LOCKS = (".lock", ".workers")
CONTENTS = ("kept", "gone", "empty", "cut", "zeros")  # what becomes of a content that was never synced


class Dead(BaseException):
    """The process was killed: from here on it changes nothing on the disk."""


@dataclass
class Disk:
    """The disk below `folder`. `fails` maps the number of an operation to what happens there."""

    folder: Path
    fails: dict[int, Callable[[], None]] = field(default_factory=dict)
    counted: int = 0
    names: list[str] = field(default_factory=list)  # of the operations, in their order
    dead: bool = False
    turn: Callable[[], None] = lambda: None  # before each operation: another thread may run
    _alone: bool = False  # it is a worker that died, not the whole machine
    _synced: dict[int, tuple[int, int]] = field(default_factory=dict)  # inode -> size and time of its synced content
    _named: dict[str, set[str]] = field(default_factory=dict)  # folder -> the names in it that were synced
    _removed: dict[str, dict[str, bytes]] = field(default_factory=dict)  # folder -> since it was synced, by path

    def operation(self, name: str, path: str) -> None:
        """Count one operation on a path, and let it fail if that is its turn."""
        self.refuse_the_dead()
        self.turn()
        self.refuse_the_dead()
        self.counted += 1
        self.names.append(f"{name} {os.path.relpath(path, self.folder)}")
        fail = self.fails.pop(self.counted, None)
        if fail is not None:
            fail()
        if name == "os.remove" and os.path.isfile(path):
            self._removed.setdefault(os.path.dirname(path), {})[path] = Path(path).read_bytes()

    def moved(self, old: str, new: str) -> None:
        """Note that a folder has another name: what was synced in it stays so."""
        for where in [name for name in self._named if name == old or name.startswith(f"{old}/")]:
            self._named[new + where[len(old) :]] = self._named.pop(where)

    def kill(self) -> None:
        """Die before the operation is done."""
        self.dead = True
        raise Dead

    def refuse_the_dead(self) -> None:
        """Raises Dead where nothing is done any more."""
        if self.dead:
            raise Dead

    def kill_worker(self) -> None:
        """Let the worker die that does the operation; where the driver does it, that is the end of the command."""
        self._alone = True
        self.kill()

    def worker_died(self) -> bool:
        """Whether it was a worker alone that died; the others go on then."""
        alone, self._alone = self._alone, False
        self.dead = self.dead and not alone
        return alone

    def full(self) -> None:
        """Have no space left, this once."""
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.folder))

    def synced(self, descriptor: int) -> None:
        """Note what an fsync makes last."""
        state = os.fstat(descriptor)
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            where = os.readlink(f"/proc/self/fd/{descriptor}")
            self._named[where] = set(os.listdir(where))
            self._removed.pop(where, None)
        else:
            self._synced[state.st_ino] = state.st_size, state.st_mtime_ns

    def cut_power(self, random: Random) -> list[str]:
        """Leave on the disk what a power cut may leave; returns what it did, a line each."""
        done = []
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file() and path.name not in LOCKS):
            state = path.stat()
            if self._synced.get(state.st_ino) != (state.st_size, state.st_mtime_ns):
                fate = random.choice(CONTENTS)
            elif path.name not in self._named.get(str(path.parent), set()):
                fate = random.choice(("kept", "kept", "gone"))
            else:
                continue
            if fate != "kept":
                _befall(path, fate)
                done.append(f"{fate} {path.relative_to(self.folder)}")
        for where, held in sorted(item for removed in self._removed.values() for item in removed.items()):
            if random.random() < 0.5 and not os.path.exists(where) and os.path.isdir(os.path.dirname(where)):
                Path(where).write_bytes(held)
                done.append(f"back {os.path.relpath(where, self.folder)}")
        self._removed.clear()
        return done

    def flip(self, random: Random, but: Collection[str], among: Sequence[Path] = ()) -> str:
        """Flip one bit of one file, of those that are named, or else of any that is not called `but`.

        Returns what was done.
        """
        files = among or [path for path in self.folder.rglob("*") if path.name not in {*LOCKS, *but}]
        whole = sorted(path for path in files if path.is_file() and path.stat().st_size)
        if not whole:
            return "no file to flip a bit of"
        path = random.choice(whole)
        data = bytearray(path.read_bytes())
        at = random.randrange(8 * len(data))
        data[at // 8] ^= 1 << at % 8
        path.write_bytes(data)
        return f"bit {at} of {path.relative_to(self.folder)}"

    def restart(self) -> None:
        """Another process begins; what the system still held has reached the disk, unless the power was cut."""
        self.dead, self._alone, self.counted, self.names = False, False, 0, []
        self.fails.clear()


def _befall(path: Path, fate: str) -> None:
    if fate == "gone":
        path.unlink()
    elif fate == "empty":
        path.write_bytes(b"")
    elif fate == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        path.write_bytes(bytes(path.stat().st_size))


_watched: list[Disk] = []  # audit hooks cannot be removed: one stays, and does nothing while no disk is watched


def _hook(event: str, told: tuple[Any, ...]) -> None:
    if not _watched:
        return
    if event == "open":
        path, flags = told[0], told[2]
        if not (isinstance(path, str | os.PathLike) and isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
            return
    elif event in OPERATIONS:
        path = told[OPERATIONS[event]]
    else:
        return
    where = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    disk = _watched[0]
    if isinstance(where, str) and where.startswith(f"{disk.folder}/") and os.path.basename(where) not in LOCKS:
        disk.operation(event, where)
        if event == "os.rename":
            disk.moved(os.fspath(told[0]), where)


@contextmanager
def watched(disk: Disk) -> Iterator[Disk]:
    """Count the operations of this process on a disk, and let them fail, while the block runs."""
    if not getattr(sys, "_failing_disk", False):
        sys.addaudithook(_hook)
        sys._failing_disk = True  # type: ignore[attr-defined]
    real = os.fsync

    def fsync(descriptor: Any) -> None:
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        where = os.readlink(f"/proc/self/fd/{number}")
        if where.startswith(str(disk.folder)):
            disk.operation("fsync", where)
            disk.synced(number)

    os.fsync = fsync
    _watched.append(disk)
    try:
        yield disk
    finally:
        _watched.remove(disk)
        os.fsync = real
