"""Rehearsals beside the page: one at a time, with its progress, and the last one asked for wins."""

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
from obelics_pipeline.inspect.dry_run.rehearse import Unknown, rehearse
from obelics_pipeline.inspect.tune.measured import Measured
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.main_job import UNIT_SECONDS
from obelics_pipeline.jobs.stages import PRELOAD


class Watched(Display):
    """Remembers how far the stage at hand is, for a page to ask; shows nothing on the terminal."""

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


class Rehearsing:
    """Rehearses configs of one run in a folder of its own, `workers` processes at a time.

    `result` is the last rehearsal that went well, with what it had to do without. Only the thread that rehearses writes
    the fields; they are replaced whole, so that a reader never sees half of one.
    """

    def __init__(self, run: Measured, scratch: Path, workers: int) -> None:
        self._run, self._scratch, self._workers = run, RunFolder(scratch), workers
        self._lock = threading.Lock()
        self._wanted: RunConfig | None = None
        self._thread: threading.Thread | None = None
        self._display: Watched | None = None
        self.result: tuple[Measured, Unknown] | None = None
        self.problem: str | None = None  # why the last one went wrong

    def ask(self, config: RunConfig) -> None:
        """Rehearse a config after the one at hand; one that waits is forgotten."""
        with self._lock:
            self._wanted = config
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()

    def state(self) -> dict[str, Any]:
        """How far it is: whether one is at work, its stage, and how many units of it are done."""
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
                self.result, self.problem = self._rehearsed(config), None
            except (UserError, Stopped, OSError) as error:
                self.problem = str(error)
            except Exception as error:  # a page must be told, whatever it is
                self.problem = f"{type(error).__name__}: {error}; report this as a bug"

    def _rehearsed(self, config: RunConfig) -> tuple[Measured, Unknown]:
        self._display = Watched()
        run, scratch = self._run, self._scratch
        with scratch.locked(), LocalEngine(self._workers, scratch.scratch, UNIT_SECONDS, PRELOAD) as engine:
            unknown = rehearse(run.folder, run.config, config, scratch, engine, self._display)
            measured = Measured(scratch)
            measured.images, measured.paragraphs  # noqa: B018 - read now: the next rehearsal takes the files away
            return measured, unknown
