"""Dry runs in a thread beside the page: one at a time, with its progress. The last config that was asked for wins."""

from __future__ import annotations

import threading
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.inspect.dry_run.dry_run import Unknown, dry_run
from obelics_pipeline.inspect.tune.measured import Measured
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.main_job import UNIT_SECONDS
from obelics_pipeline.jobs.stages import PRELOAD


class Watched(Display):
    """A display that remembers the progress of the running stage for the page, and prints nothing."""

    def __init__(self) -> None:
        super().__init__(Console(file=StringIO()))
        self.name, self.total, self.done = "", 0, 0

    def stage(self, name: str, total: int, done: int, step: bool = False) -> None:
        """As a display's."""
        super().stage(name, total, done, step)
        self.name, self.total, self.done = name, total, done

    def unit_done(self) -> None:
        """As a display's."""
        super().unit_done()
        self.done += 1


class DryRuns:
    """Dry runs of configs of one run, in a folder of their own, with `workers` processes.

    `result` is the last dry run that succeeded, with what it could not know. Only the thread of the dry run writes the
    fields; each is replaced whole, so that a reader never sees half of one.
    """

    def __init__(self, run: Measured, scratch: Path, workers: int) -> None:
        self._run, self._scratch, self._workers = run, RunFolder(scratch), workers
        self._lock = threading.Lock()
        self._wanted: RunConfig | None = None
        self._thread: threading.Thread | None = None
        self._display: Watched | None = None
        self.result: tuple[Measured, Unknown] | None = None
        self.problem: str | None = None  # why the last one failed

    def ask(self, config: RunConfig) -> None:
        """Run a config dry after the one that is running; a config that waits is replaced."""
        with self._lock:
            self._wanted = config
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()

    def state(self) -> dict[str, Any]:
        """Whether a dry run is at work, its stage, and how many units of that stage are done."""
        display, working = self._display, self._thread is not None
        at = {"stage": display.name, "done": display.done, "total": display.total} if display and working else {}
        return {"working": working, "problem": self.problem, **at}

    def _work(self) -> None:
        while True:
            with self._lock:
                config, self._wanted = self._wanted, None
                if config is None:
                    self._thread = None
                    return
            try:
                self.result, self.problem = self._run_dry(config), None
            except (UserError, Stopped, OSError) as error:
                self.problem = str(error)
            except Exception as error:  # the page shows it, whatever it is
                self.problem = f"{type(error).__name__}: {error}; report this as a bug"

    def _run_dry(self, config: RunConfig) -> tuple[Measured, Unknown]:
        self._display = Watched()
        run, scratch = self._run, self._scratch
        with scratch.locked(), LocalEngine(self._workers, scratch.scratch, UNIT_SECONDS, PRELOAD) as engine:
            unknown = dry_run(run.folder, run.config, config, scratch, engine, self._display)
            measured = Measured(scratch)
            measured.images, measured.paragraphs  # noqa: B018 - read now: the next dry run removes the files
            return measured, unknown
