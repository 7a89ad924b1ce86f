"""How a unit's output becomes part of a run: data under a temporary name, then one manifest, created if absent.

Readers trust manifests only, so a unit is either whole or not there, whenever a process is killed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.ledger import Ledger
from obelics_pipeline.unit import Unit

TEMPORARY = ".tmp-"  # prefix of files that belong to no manifest yet; `sweep` removes what a kill left behind


@dataclass(frozen=True)
class Manifest:
    """What a committed unit consists of: its files with their sha256, its ledgers, and what else the stage notes."""

    unit: str
    stage: str
    files: dict[str, dict[str, Any]]  # role -> {"name", "sha256", "bytes"}
    ledgers: dict[str, Ledger]
    notes: dict[str, Any]

    def path(self, folder: Path, role: str) -> Path:
        """The file that plays `role` in this unit, within the stage's folder."""
        return folder / str(self.files[role]["name"])

    def to_json(self) -> dict[str, Any]:
        """As it stands on disk."""
        return {
            "unit": self.unit,
            "stage": self.stage,
            "files": self.files,
            "ledgers": {noun: ledger.to_json() for noun, ledger in self.ledgers.items()},
            "notes": self.notes,
        }


class Attempt:
    """One try at a unit: temporary files that either become the unit's output together or are gone.

    Use as a context manager; `commit` is the last thing inside it.
    """

    def __init__(self, folder: Path, unit: Unit) -> None:
        self._folder, self._unit = folder, unit
        self._files: dict[str, tuple[Path, str]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, *_: object) -> None:
        for path, _ending in self._files.values():
            path.unlink(missing_ok=True)

    def file(self, role: str, suffix: str, name: str | None = None) -> Path:
        """A temporary path to write the file of this role to.

        Committed, it is named after the unit, its content and `suffix` (".parquet"), or as `name` says; the main
        file of a unit plays the role "data" and lies in the stage's folder, the others in a folder of their role.
        """
        path = self._folder / f"{TEMPORARY}{secrets.token_hex(8)}{suffix}"
        self._files[role] = path, name or suffix
        return path

    def commit(self, ledgers: Sequence[Ledger], notes: dict[str, Any] | None = None) -> Manifest:
        """Move the files to their final names, named by their content, and create the manifest.

        Where another attempt was first, its manifest stands and is returned. Raises ValueError for a ledger that
        does not balance: a unit that lost something is never committed.
        """
        for ledger in ledgers:
            if not ledger.balanced():
                raise ValueError(f"unit {self._unit.name}: the ledger of {ledger.noun} does not balance: {ledger}")
        files = {}
        for role, (path, ending) in self._files.items():
            sha256 = file_sha256(path)
            name = f"{self._unit.name}-{sha256[:12]}{ending}" if ending.startswith(".") else ending
            target = self._folder / name if role == "data" else self._folder / role / name
            size = path.stat().st_size
            target.parent.mkdir(exist_ok=True)
            _sync(path)
            os.replace(path, target)
            files[role] = {"name": str(target.relative_to(self._folder)), "sha256": sha256, "bytes": size}
        manifest = Manifest(self._unit.name, self._unit.stage, files, {x.noun: x for x in ledgers}, notes or {})
        path = manifest_path(self._folder, self._unit.name)
        if not create_json(path, manifest.to_json()) and read_manifest(self._folder, self._unit.name) is None:
            path.unlink(missing_ok=True)  # damaged, or what it names is gone: it commits nothing
            create_json(path, manifest.to_json())
        return read_manifest(self._folder, self._unit.name) or manifest


def manifest_path(folder: Path, unit_name: str) -> Path:
    """Where a unit's manifest stands."""
    return folder / "manifests" / f"{unit_name}.json"


def read_manifest(folder: Path, unit_name: str) -> Manifest | None:
    """The manifest of a unit, or None while it is not committed (or its files are gone or of another size)."""
    try:
        value = json.loads(manifest_path(folder, unit_name).read_text(encoding="utf-8"))
        ledgers = {noun: Ledger.from_json(noun, counts) for noun, counts in value["ledgers"].items()}
        manifest = Manifest(value["unit"], value["stage"], value["files"], ledgers, value["notes"])
        whole = all((folder / f["name"]).stat().st_size == f["bytes"] for f in manifest.files.values())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return manifest if whole else None


def committed(folder: Path, unit_name: str) -> Manifest:
    """The manifest of a unit that an earlier step committed. Raises FileNotFoundError where it is gone."""
    manifest = read_manifest(folder, unit_name)
    if manifest is None:
        raise FileNotFoundError(errno.ENOENT, "a unit that was committed is gone", str(folder / unit_name))
    return manifest


def write_file(path: Path, data: bytes) -> None:
    """Write a whole file or nothing: a reader never sees half of it."""
    with temporary(path) as draft:
        draft.write_bytes(data)


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """A temporary path that takes the place of `path` when the block ends well, and is removed when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}{path.suffix}")
    try:
        yield draft
        _sync(draft)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def create_json(path: Path, value: Any) -> bool:
    """Create a JSON file if it is not there yet. False where another was first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}.json")
    try:
        draft.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        _sync(draft)
        try:
            os.link(draft, path)
            return True
        except FileExistsError:
            return False
    finally:
        draft.unlink(missing_ok=True)


def remember(path: Path, make: Callable[[], Any]) -> Any:
    """The JSON value that `make` returned when this file was first asked for. `path` names all that it depends on."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        value = make()
        write_file(path, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())
        return value


def sweep(folder: Path, wanted: Iterable[Manifest]) -> int:
    """Remove every file of a stage's folder that no wanted manifest names; returns how many were removed."""
    keep = {f["name"] for m in wanted for f in m.files.values()}
    keep |= {str(manifest_path(folder, m.unit).relative_to(folder)) for m in wanted}
    removed = 0
    for path in sorted(folder.rglob("*")):
        if path.is_file() and str(path.relative_to(folder)) not in keep:
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def sweep_temporary(folder: Path) -> None:
    """Remove what a killed run left behind before it was named. Only for who holds the run's lock."""
    for path in folder.rglob(f"{TEMPORARY}*"):
        if path.is_file():
            path.unlink(missing_ok=True)


def file_sha256(path: Path) -> str:
    """sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
