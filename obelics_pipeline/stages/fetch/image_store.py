"""The image store: a folder of files, or objects, named by the sha256 of what is in them."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.storage import TEMPORARY, Location, create, read_bytes, remove, size_of, sync

_SHA256 = re.compile(r"[0-9a-f]{64}")


class ImageStore:
    """Content-addressed files under `folder`: `ab/abcd…`, each written once, whole or not at all.

    Many processes may write at the same time. A full disk raises OSError and leaves nothing half-written.
    """

    def __init__(self, folder: Location) -> None:
        self.folder = folder

    def path(self, sha256: str) -> Location:
        """Where the bytes of this hash are. Raises ValueError for what is not a sha256 (never a path of its own)."""
        if not _SHA256.fullmatch(sha256):
            raise ValueError(f"not a sha256: {sha256[:80]!r}")
        return self.folder / sha256[:2] / sha256

    def put(self, content: bytes) -> str:
        """Keep some bytes; their sha256. What is there already is read, and not written again where it is the same."""
        sha256 = hashlib.sha256(content).hexdigest()
        path = self.path(sha256)
        if not isinstance(path, Path):
            create(path, content)  # whether it is there is told by the same request
        elif not self.holds(sha256):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(path, content)
        return sha256

    def sync(self, hashes: Iterable[str]) -> None:
        """Bring these to the disk itself, and their names: called once, before a unit that names them is committed.

        Their bytes are there before their names are, except in a store of an earlier version. Nothing is left to do in
        an object store, which has answered for each of them.
        """
        paths = sorted({path for sha256 in hashes if isinstance(path := self.path(sha256), Path)})
        for path in [*paths, *sorted({path.parent for path in paths})]:
            sync(path)

    def read_whole(self, sha256: str) -> bytes:
        """The bytes of this hash, which a fetch unit committed. Raises Damaged where they are gone or others."""
        try:
            return self.read(sha256)
        except (FileNotFoundError, ValueError):
            raise Damaged(str(self.path(sha256))) from None

    def read(self, sha256: str) -> bytes:
        """The bytes of this hash. Raises FileNotFoundError, or ValueError where they are not what the name says."""
        content = read_bytes(self.path(sha256))
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ValueError(f"image store {self.path(sha256)}: damaged: its content has another sha256 than its name")
        return content

    def has(self, sha256: str) -> bool:
        """Whether there is a file of this hash."""
        return size_of(self.path(sha256)) is not None

    def holds(self, sha256: str) -> bool:
        """Whether the bytes of this hash are here, and undamaged; an object cannot be half there."""
        if not isinstance(self.folder, Path):
            return self.has(sha256)
        try:
            self.read(sha256)
        except (FileNotFoundError, ValueError):
            return False
        return True

    def discard(self, sha256: str) -> None:
        """Remove what is there under this hash, if anything is."""
        remove([self.path(sha256)])

    def sweep(self) -> int:
        """Remove files that killed processes left half-written; returns how many. Call it while no process writes."""
        left = list(self.folder.glob(f"*/{TEMPORARY}*")) if isinstance(self.folder, Path) else []
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)

    def _settle(self, file: IO[bytes]) -> None:
        """Bring a file to the disk before it gets its name, or a power cut leaves a file of zeros under it."""
        os.fsync(file.fileno())

    def _write(self, path: Path, content: bytes) -> None:
        temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                self._settle(file)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
