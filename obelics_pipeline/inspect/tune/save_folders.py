"""Where the page may write: into the folder of its run, and beside the config that the run came from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.config.yaml_file import bundled_configs, find_config
from obelics_pipeline.core.errors import UserError


@dataclass(frozen=True)
class SaveFolders:
    """`folders`: those that may be written to, with links resolved. A path without a folder is in the first."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, run: Path, config: str | None) -> SaveFolders:
        """The folder of a run, after that of the config it names if that is a config file that is not bundled."""
        found = run.resolve()
        with suppress(UserError, OSError):
            beside = find_config(config or "").absolute().parent.resolve()
            if config and load_config(config) and beside not in (bundled_configs().resolve(), found):
                return cls((beside, found))
        return cls((found,))

    def path_of(self, path: Path) -> Path:
        """The resolved path, which lies directly in one of the folders. Raises UserError for any other path."""
        try:
            whole = self.folders[0] / path
            found = whole.parent.resolve() / whole.name
        except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL
            found = Path()
        if found.parent not in self.folders or found.name in ("", "..") or not found.name.isprintable():
            raise UserError(f"{path}: the page does not write there; give a name in {self}")
        return found

    def __str__(self) -> str:
        return " or ".join(map(str, self.folders))
