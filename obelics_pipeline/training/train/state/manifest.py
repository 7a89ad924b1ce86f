"""A folder's manifest: every file with its size and sha256. It is written last; what it does not name is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256, sync

NAME = "manifest.json"


def write_manifest(folder: Path, sha256: dict[str, str] | None = None) -> str:
    """Write the manifest of all files below a folder; returns its id. Hashes that are known already are taken."""
    known = sha256 or {}
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": known.get(name) or file_sha256(folder / name)}
        for name in files_in(folder)
        if name != NAME
    }
    value = {"id": _id(files), "files": files}
    path = folder / NAME
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    sync(path)
    return str(value["id"])


def read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """File name -> {"bytes", "sha256"}. Raises `UserError` if it is missing, or was changed."""
    path = folder / NAME
    try:
        value = json.loads(path.read_bytes())
        files: dict[str, dict[str, Any]] = value["files"]
        whole = value["id"] == _id(files) and all({"bytes", "sha256"} == entry.keys() for entry in files.values())
    except FileNotFoundError:
        raise UserError(f"{path} is missing, so the checkpoint is incomplete; take another one") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise UserError(f"{path} was altered; take another checkpoint")
    return files


def verify(folder: Path, part: int = 0, parts: int = 1) -> None:
    """Compare a folder with its manifest, file by file.

    Names and sizes are all looked at, sha256 of every `parts`-th file from `part` on: so ranks can share the work.
    Raises `UserError` that names the first file that is stray, missing, truncated or altered.
    """
    files = read_manifest(folder)
    there = files_in(folder)
    for name in there:
        if name != NAME and name not in files:
            raise UserError(f"{folder / name} is stray: {NAME} does not name it; move it away; it is not read")
    for name, entry in sorted(files.items()):
        if name not in there:
            raise UserError(f"{folder / name} is missing; put it back, or take another checkpoint")
        size = (folder / name).stat().st_size
        if size != entry["bytes"]:
            raise UserError(f"{folder / name} has {size} bytes, not {entry['bytes']}; take another checkpoint")
    for name, entry in sorted(files.items())[part::parts]:
        if file_sha256(folder / name) != entry["sha256"]:
            raise UserError(f"{folder / name} was altered (its sha256 differs); take another checkpoint")


def files_in(folder: Path) -> list[str]:
    """Names of all files below a folder, hidden ones and links too, sorted."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()
    )


def _id(files: dict[str, dict[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
