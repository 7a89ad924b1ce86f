"""What keeps a run from writing in a folder of an object store after it lost its lease.

A fence stands around a folder for as long as this process holds it. `storage` asks it before every put over what is
there and every removal below the folder, in any thread. It is asked for by place, so that no caller can forget it.
Worker processes know of no fence: they only create what is named by its content.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from upath import UPath

from obelics_pipeline.core.revision_place import base_of


class Fence(Protocol):
    """The right to write in a folder."""

    def check(self) -> None:
        """Raises Stopped where the right is lost."""

    def overwrite(self, target: UPath, body: bytes | Path) -> None:
        """Put bytes, or a local file, over what is there; refused by the store once a later holder wrote it.

        Raises Stopped where the right is lost, OSError as `storage` does.
        """


_standing: list[tuple[UPath, Fence]] = []


@contextmanager
def fenced(folder: UPath, fence: Fence) -> Iterator[None]:
    """Ask the fence before writes below a folder, while the block runs."""
    entry = (folder, fence)
    _standing.append(entry)
    try:
        yield
    finally:
        _standing.remove(entry)


def fence_around(where: UPath) -> Fence | None:
    """The fence around the folder that a place is in, at any depth."""
    return next((fence for folder, fence in _standing if _is_below(where, folder)), None)


def fence_of_run_level(target: UPath) -> Fence | None:
    """The fence around the folder that a file lies directly in: such a file stands for the whole run, or a revision."""
    base = base_of(target.parent)
    return next((fence for folder, fence in _standing if _is_same(base, folder)), None)


def _is_below(where: UPath, folder: UPath) -> bool:
    return where.protocol == folder.protocol and where.path.startswith(folder.path.rstrip("/") + "/")


def _is_same(one: UPath, other: UPath) -> bool:
    return one.protocol == other.protocol and one.path.rstrip("/") == other.path.rstrip("/")
