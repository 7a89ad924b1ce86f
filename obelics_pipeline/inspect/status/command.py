"""`obelics status`: reads what a run has written so far, once or again and again; writes nothing into its folder."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.live import Live

from obelics_pipeline.core.errors import DISK_FULL, Stopped, UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import location, size_of, write_bytes
from obelics_pipeline.inspect.status.page import status_html
from obelics_pipeline.inspect.status.progress import Progress
from obelics_pipeline.inspect.status.show import shown
from obelics_pipeline.inspect.status.status import Status, status_of
from obelics_pipeline.jobs.events import Tail
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.stages.assumptions import Assumptions, assumptions_of
from obelics_pipeline.stages.stage import Stage


class Watch:
    """A run's folder, looked at as often as one likes: of its log only what is new is read."""

    def __init__(self, path: str, price: Assumptions) -> None:
        """Raises UserError for a folder that is not a run's, OSError and Stopped where a store does not answer."""
        self._path, self._price = path, price
        self._folder = RunFolder(location(path))
        self._tail, self._progress = Tail(self._folder.events), Progress()
        self._folder.refuse_other_format()
        self._progress.hear(self._tail.new())
        if self._progress.start is None and size_of(self._folder.config) is None:
            raise UserError(f"{path}: is not the folder of a run; give the --output of obelics run, a path or a URL")

    def look(self) -> Status:
        """The status of now."""
        self._progress.hear(self._tail.new())
        self._folder = RunFolder(location(self._path))  # a revision may have become the current one
        return status_of(self._folder, self._path, self._progress, self.stages(), self._price, time.time())

    def stages(self) -> tuple[Stage, ...]:
        """The stages of the run."""
        return stages_in(self._folder)


def status(
    path: str, as_json: bool = False, html: str | None = None, every: float | None = None, prices: Sequence[str] = ()
) -> int:
    """Show a run's status; with `every`, again after so many seconds, until the run ends or Ctrl-C.

    Returns 1 where something of the run failed, else 0. Raises UserError for a folder that is not a run's.
    """
    price = assumptions_of(prices)
    console = Console(highlight=False)
    found, watch = None, Watch(path, price)
    with contextlib.suppress(KeyboardInterrupt) if every is not None else contextlib.nullcontext():
        live = Live(console=console, auto_refresh=False) if _redraws(console, as_json, every) else None
        with live or contextlib.nullcontext():
            while True:
                found = watch.look()
                if html is not None:
                    _write(html, status_html(found, watch.stages()))
                _tell(found, console, live, as_json)
                if every is None or found.is_over:
                    break
                time.sleep(every)
    return found.code if found is not None else 0


def _redraws(console: Console, as_json: bool, every: float | None) -> bool:
    return every is not None and console.is_terminal and not as_json


def _tell(found: Status, console: Console, live: Live | None, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(f"{json.dumps(found.to_json())}\n")  # for programs: no width, no colour
        sys.stdout.flush()
    elif live is not None:
        live.update(shown(found), refresh=True)
    else:
        console.print(shown(found))


def _write(html: str, text: str) -> None:
    target = location(html)
    try:
        if isinstance(target, Path):
            target.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(target, text.encode())
    except OSError as error:
        if error.errno in DISK_FULL:
            raise Stopped(f"--html {html}: {error.strerror}; make room, then run the same command again") from None
        raise UserError(f"--html {html}: cannot be written: {error.strerror}; give another file") from None
