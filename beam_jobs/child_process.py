"""A guarded child process per DoFn instance: a page that kills or hangs its process costs a page, not a bundle.

Beam fails a whole bundle where a DoFn raises, and waits for ever where it hangs. So the work of a unit is done by the
local engine's pool, of one process, which knows how to retry, to single out a bad page, and when to give up.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.storage import Location
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.pool import NEVER


@dataclass(frozen=True)
class ChildProcess:
    """How a worker guards its work. `folder` is the run's; `preload` names modules that children share."""

    folder: Location
    unit_timeout_seconds: float
    preload: Sequence[str] = ()

    def open(self) -> LocalEngine:
        """An engine of one process, which starts with its first task; a context manager."""
        _hide_main_module()
        return LocalEngine(1, self._locks(), self.unit_timeout_seconds, self.preload)

    def open_for_model(self) -> LocalEngine:
        """As `open`; the process may grow as large as its model."""
        _hide_main_module()
        return LocalEngine(1, self._locks(), self.unit_timeout_seconds, self.preload, recycle_bytes=NEVER)

    def _locks(self) -> Path:
        """The run's folder where this machine has it, so that the next run waits for what a killed one left."""
        if isinstance(self.folder, Path) and self.folder.is_dir():
            return self.folder
        return Path(tempfile.gettempdir())


def _hide_main_module() -> None:
    """A child would import the main module of Beam's worker once more, and all of Beam with it: 1.3 s, 100 MB."""
    main = sys.modules["__main__"]
    if main.__spec__ is not None and main.__spec__.name.startswith("apache_beam."):
        main.__spec__, main.__file__ = None, None
