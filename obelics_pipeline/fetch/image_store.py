"""The image store: a folder of files named by the sha256 of what is in them."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

_TEMPORARY = ".tmp-"
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ImageStore:
    """Content-addressed files under `folder`: `ab/abcd…`, each written once, whole or not at all.

    Many processes may write at the same time. A full disk raises OSError and leaves nothing half-written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, sha256: str) -> Path:
        """Where the bytes of this hash are. Raises ValueError for what is not a sha256 (never a path of its own)."""
        if not _SHA256.fullmatch(sha256):
            raise ValueError(f"not a sha256: {sha256[:80]!r}")
        return self.folder / sha256[:2] / sha256

    def put(self, content: bytes) -> str:
        """Keep some bytes; their sha256. What is there already, whole, is not written again."""
        sha256 = hashlib.sha256(content).hexdigest()
        path = self.path(sha256)
        if self._size(path) != len(content):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(path, content)
        return sha256

    def sync(self, hashes: Iterable[str]) -> None:
        """Bring these to the disk itself: called once, before a unit that names them is committed."""
        paths = sorted({self.path(sha256) for sha256 in hashes})
        for path in [*paths, *sorted({path.parent for path in paths})]:
            _sync(path)

    def read(self, sha256: str) -> bytes:
        """The bytes of this hash. Raises FileNotFoundError, or ValueError where they are not what the name says."""
        content = self.path(sha256).read_bytes()
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ValueError(f"image store {self.path(sha256)}: damaged: its content has another sha256 than its name")
        return content

    def open(self, sha256: str) -> BinaryIO:
        """The file of this hash, unchecked. Raises FileNotFoundError."""
        return self.path(sha256).open("rb")

    def holds(self, sha256: str) -> bool:
        """Whether the bytes of this hash are here, and undamaged."""
        try:
            self.read(sha256)
        except (FileNotFoundError, ValueError):
            return False
        return True

    def sweep(self) -> int:
        """Remove what a killed process left half-written; how many files. Only while nobody writes."""
        left = list(self.folder.glob(f"*/{_TEMPORARY}*"))
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)

    def _size(self, path: Path) -> int | None:
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return None

    def _write(self, path: Path, content: bytes) -> None:
        temporary = path.with_name(f"{_TEMPORARY}{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as file:
                file.write(content)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
