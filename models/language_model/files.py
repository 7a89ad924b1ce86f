"""Where a model's files are: a folder, or the hub's name of one."""

from __future__ import annotations

from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.weight_files import SUFFIXES
from obelics_pipeline.models.flamingo.released import check_cached

_CONFIGURATION = ("*.json", "*.txt", "*.model", "*.jinja")


def is_folder(name_or_folder: str) -> bool:
    """Whether it is a folder; if not, it is a name of the hub. Raises `UserError` where it can be neither."""
    path = Path(name_or_folder).expanduser()
    if path.is_dir():
        return True
    if path.exists() or name_or_folder.count("/") != 1 or name_or_folder.startswith((".", "/", "~")):
        raise UserError(f"language model: {name_or_folder} is neither a folder nor a name of the hub (owner/name)")
    return False


def folder_of(name_or_folder: str, trust_remote_code: bool) -> Path:
    """The folder of a model's files; by a name of the hub they are fetched, or found in its cache, and checked.

    Raises `UserError` where the hub cannot be reached, and for a file that is damaged.
    """
    if is_folder(name_or_folder):
        return Path(name_or_folder).expanduser()
    folder = _snapshot(name_or_folder, (*_CONFIGURATION, *(["*.py"] if trust_remote_code else []), "*.safetensors"))
    if not any(folder.glob("*.safetensors")):
        folder = _snapshot(name_or_folder, ("*.bin",))
    for path in sorted(folder.glob("*")):
        if path.suffix in SUFFIXES:
            check_cached(path)
    return folder


def _snapshot(name: str, patterns: tuple[str, ...]) -> Path:
    import huggingface_hub

    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=list(patterns)))
    except Exception as error:  # of many kinds: of HTTP, of the hub, of the disk
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"language model: {name} cannot be had from huggingface.co: {reason}; give a local folder, docs/gpu.md"
        ) from None
