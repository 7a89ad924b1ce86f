"""What a Flamingo is, so that scores of the same one are not measured again: told without loading it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from obelics_pipeline.models.flamingo.folder import contents
from obelics_pipeline.models.flamingo.released import release_of


def identity(name_or_folder: str, trust_remote_code: bool) -> dict[str, Any]:
    """JSON values that are equal where scores are: the content of a folder, wherever it is; a release's name.

    Raises `UserError` where the folder lacks something, or the name is not one that can be loaded.
    """
    folder = Path(name_or_folder).expanduser()
    if folder.is_dir():
        return contents(folder)
    release_of(name_or_folder, trust_remote_code)
    return {"release": name_or_folder}
