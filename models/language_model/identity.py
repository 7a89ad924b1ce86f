"""What a language model is, so that scores of the same one are not measured again: told without loading it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from obelics_pipeline.models.device.weight_files import digest
from obelics_pipeline.models.language_model.files import is_folder, pinned


def identity(name_or_folder: str, trust_remote_code: bool) -> dict[str, Any]:
    """JSON values that are equal where scores are: the content of a folder, wherever it is; a name of the hub with its
    commit.

    A folder says no sha256 of its weights, so they are read: once per process, some seconds for a gigabyte.
    Raises `UserError` where it is neither a folder nor such a name, and where nothing says the commit.
    """
    if not is_folder(name_or_folder):
        return {"hub": pinned(name_or_folder), "trust_remote_code": trust_remote_code}
    folder = Path(name_or_folder).expanduser()
    inside = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return {"files": {path.name: digest(path) for path in inside}, "trust_remote_code": trust_remote_code}
