"""A stage in which one page kills the process that touches it; a module of its own, so that workers can import it."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.stages.extract import stage
from obelics_pipeline.stages.extract.stage import extract_unit


class Poisoned:
    """The stage's function, but one page kills the process that touches it."""

    def __init__(self, folder: Path, config: RunConfig, url: str) -> None:
        self.folder, self.config, self.url = folder, config, url

    def __call__(self, unit: Unit) -> Manifest:
        real: Callable[..., Any] = stage.page_documents

        def deadly(page: Any, *others: Any) -> Any:
            if page.url == self.url:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(page, *others)

        stage.page_documents = deadly
        try:
            return extract_unit(unit, folder=self.folder, config=self.config)
        finally:
            stage.page_documents = real
