"""Where the page may write: into the folder of its run, and beside the config that the run came from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.config.yaml_file import bundled_configs, find_config
from obelics_pipeline.core.errors import UserError


@dataclass(frozen=True)
class Places:
    """Folders, each as it is when links are followed; what has no folder of its own is meant to be in the first."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, run: Path, config: str | None) -> Places:
        """Those of a run and of the config that it names. What is no config of ours has no place, nor a bundled one."""
        found = run.resolve()
        with suppress(UserError, OSError):
            beside = find_config(config or "").absolute().parent.resolve()
            if config and load_config(config) and beside not in (bundled_configs().resolve(), found):
                return cls((beside, found))
        return cls((found,))

    def placed(self, path: Path) -> Path:
        """The path of something directly in one of the folders. Raises UserError for any other."""
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
