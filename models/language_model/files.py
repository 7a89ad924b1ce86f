"""Where a model's files are: a folder, or the hub's name of one."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.weight_files import SUFFIXES
from obelics_pipeline.models.flamingo.released import check_cached

_AT = "@"  # owner/name@revision: a branch, a tag or a commit; without it the hub's main
_COMMIT = re.compile("[0-9a-f]{40}")
_CONFIGURATION = ("*.json", "*.txt", "*.model", "*.jinja")


class HubSilent(UserError):
    """The hub does not say which commit a name means: a run on a machine that reaches it can still start."""


def is_folder(name_or_folder: str) -> bool:
    """Whether it is a folder; if not, it is a name of the hub. Raises `UserError` where it can be neither."""
    path = Path(name_or_folder).expanduser()
    if path.is_dir():
        return True
    if path.exists() or repository(name_or_folder).count("/") != 1 or name_or_folder.startswith((".", "/", "~")):
        raise UserError(f"language model: {name_or_folder} is neither a folder nor a name of the hub (owner/name)")
    return False


def repository(name: str) -> str:
    """A name of the hub without its revision."""
    return name.partition(_AT)[0]


def pinned(name_or_folder: str) -> str:
    """A name of the hub with the commit that it means now, which a process asks once; a folder stays as it is.

    The hub is asked, and its cache on this machine where it does not answer. Raises `HubSilent` where neither knows.
    """
    if is_folder(name_or_folder):
        return name_or_folder
    name, _, revision = name_or_folder.partition(_AT)
    return f"{name}{_AT}{revision if _COMMIT.fullmatch(revision) else _commit(name, revision or 'main')}"


@cache
def _commit(name: str, revision: str) -> str:
    from huggingface_hub import HfApi, constants

    try:
        return str(HfApi().model_info(name, revision=revision).sha)
    except Exception as error:  # of many kinds: of HTTP, of the hub
        seen = Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}" / "refs" / revision
        if seen.is_file():
            return seen.read_text().strip()
        raise HubSilent(_not_had(name, error)) from None


def folder_of(name_or_folder: str, trust_remote_code: bool) -> Path:
    """The folder of a model's files; by a name of the hub they are fetched, or found in its cache, and checked.

    Raises `UserError` where the hub cannot be reached, and for a file that is damaged.
    """
    if is_folder(name_or_folder):
        return Path(name_or_folder).expanduser()
    name = pinned(name_or_folder)
    folder = _snapshot(name, (*_CONFIGURATION, *(["*.py"] if trust_remote_code else []), "*.safetensors"))
    if not any(folder.glob("*.safetensors")):
        folder = _snapshot(name, ("*.bin",))
    for path in sorted(folder.glob("*")):
        if path.suffix in SUFFIXES:
            check_cached(path)
    return folder


def _snapshot(name: str, patterns: tuple[str, ...]) -> Path:
    import huggingface_hub

    repo, _, commit = name.partition(_AT)
    try:
        return Path(huggingface_hub.snapshot_download(repo, revision=commit, allow_patterns=list(patterns)))
    except Exception as error:  # of many kinds: of HTTP, of the hub, of the disk
        raise UserError(_not_had(name, error)) from None


def _not_had(name: str, error: Exception) -> str:
    reason = " ".join(str(error).split())[:200]
    return f"language model: {name} cannot be had from huggingface.co: {reason}; give a local folder, docs/gpu.md"
