"""A file per rank that says it is alive, and a thread that ends a process which no longer is."""

from __future__ import annotations

import faulthandler
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

EXIT_CODE = 75
"""EX_TEMPFAIL of sysexits.h: the same command may go on from the last checkpoint."""


def heartbeat_path(run: Path, rank: int) -> Path:
    """Where the heartbeat of a rank is, in a run's folder."""
    return run / "heartbeat" / f"rank-{rank:05d}.json"


class Heartbeat:
    """Writes a rank's file, and watches that `beat` is called often enough.

    The file is written by the thread that watches, never by the one that trains: a file system that hangs holds no
    step up. After `timeout_seconds` without a beat the stacks of all threads go to `stacks` (a file object with a
    descriptor, standard error by default) and the process ends with `EXIT_CODE`, at once and without clean-up: what
    hangs in a collective, or in a driver, cannot be ended otherwise. Other ranks then see their connection break, or
    end by their own watch.
    """

    def __init__(
        self,
        path: Path,
        timeout_seconds: float,
        *,
        about: Mapping[str, Any] | None = None,
        interval_seconds: float = 5.0,
        stacks: IO[str] | None = None,
        leave: Callable[[int], Any] = os._exit,
    ) -> None:
        self.path = path
        self.timeout_seconds = timeout_seconds
        self.interval_seconds = min(interval_seconds, timeout_seconds / 4)
        self.about = dict(about or {}) | {"pid": os.getpid()}
        self.stacks = stacks
        self.leave = leave
        self.last = (0, "start", time.monotonic(), time.time())
        self.done = threading.Event()
        self.watcher = threading.Thread(target=self._watch, name="heartbeat-watch", daemon=True)
        self.writer = threading.Thread(target=self._write, name="heartbeat-write", daemon=True)

    def start(self) -> Heartbeat:
        """Begin to write and to watch."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.beat(0, "start")
        self.watcher.start()
        self.writer.start()
        return self

    def beat(self, step: int, phase: str = "step") -> None:
        """Alive, at this step: costs nothing. Call it before a long pause too (evaluation, checkpoint)."""
        self.last = (step, phase, time.monotonic(), time.time())

    def stop(self) -> None:
        """End both threads; the file stays, with the last word."""
        self.done.set()
        for thread in (self.watcher, self.writer):
            if thread.is_alive():
                thread.join(self.interval_seconds)

    def _write(self) -> None:
        while True:
            ended = self.done.wait(self.interval_seconds)
            step, phase, _, at = self.last
            said = self.about | {"step": step, "phase": "end" if ended else phase, "time": at}
            new = self.path.with_suffix(".new")
            try:
                new.write_text(json.dumps(said), encoding="utf-8")
                new.replace(self.path)
            except OSError:
                pass  # the disk is full, or away: the run will say so where it matters
            if ended:
                return

    def _watch(self) -> None:
        while not self.done.wait(self.interval_seconds):
            step, phase, at, _ = self.last
            if time.monotonic() - at <= self.timeout_seconds:
                continue
            import sys

            out = self.stacks or sys.stderr
            said = f"no sign of life for {self.timeout_seconds:g} s at step {step} ({phase}); stacks of all threads:\n"
            try:
                os.write(out.fileno(), said.encode())
                faulthandler.dump_traceback(out, all_threads=True)
            finally:
                self.leave(EXIT_CODE)
            return
