"""Files of weights: checked by their sha256, and read in forms that cannot run code."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError

SUFFIXES = (".safetensors", ".pt", ".bin")  # the last two by torch's unpickler of tensors alone (weights_only)
WRAPPERS = ("model_state_dict", "state_dict")  # open_flamingo's and open_clip's trainers put their optimizer beside it


def check(path: Path, expected: str) -> None:
    """Raises `UserError` where a file has another sha256 than is expected of it, or is not there."""
    found = digest(path)
    if found != expected:
        raise UserError(
            f"weights: {path} is damaged or another file: its sha256 is {found}, {expected} is expected; fetch it again"
        )


def digest(path: Path) -> str:
    """The sha256 of a file, read once per process, unless it changed. Raises `UserError` where it is not there."""
    try:
        state = path.stat()
        return _sha256(path, (state.st_ino, state.st_size, state.st_mtime_ns))
    except OSError as error:
        raise UserError(f"weights: {path} cannot be read: {error.strerror}") from None


@lru_cache(maxsize=64)
def _sha256(path: Path, _: object) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(path: Path) -> Mapping[str, Any]:
    """Tensors by name, on the CPU. Raises `UserError` where the file holds anything else."""
    import torch
    from safetensors.torch import load_file

    try:
        if path.suffix == ".safetensors":
            return dict(load_file(path))
        found = torch.load(path, map_location="cpu", weights_only=True)
        for wrapper in WRAPPERS:
            found = found.get(wrapper, found)
        return {str(name).removeprefix("module."): tensor for name, tensor in found.items()}  # of their DDP
    except Exception as error:
        # torch puts advice to run the code in front of what it found
        reason = " ".join(str(error).rpartition("WeightsUnpickler error: ")[2].split())[:200]
        raise UserError(f"weights: {path} holds no weights that can be read without running code: {reason}") from None
