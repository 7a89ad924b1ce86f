"""A run in an experiment tracker, by a process of its own: its package is large, and may hang."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time

from obelics_pipeline.engines.pool import import_environment
from obelics_pipeline.jobs.hooks.hook import Message, Told, Undelivered

CHILD = "obelics_pipeline.jobs.hooks.tracking"


class Tracker:
    """Tells a tracker what `told` makes of the events of a run.

    `about` is what the child opens its run by: see `tracking`. A child that fails or takes too long is ended; the next
    one goes on in the same run of the tracker.
    """

    def __init__(self, name: str, about: Message, told: Told, seconds: float) -> None:
        self.name, self.seconds, self.messages = name, seconds, told
        self._about = about
        self._child: subprocess.Popen[bytes] | None = None

    def deliver(self, message: Message) -> None:
        """Let the child do it. Raises Undelivered where it cannot, dies, or takes too long."""
        until = time.monotonic() + self.seconds
        try:
            if self._child is None:
                self._child = _start()
                _ask(self._child, self._about, until)
            _ask(self._child, message, until)
        except Undelivered:
            self.close()
            raise

    def close(self) -> None:
        """End the child, with all that it has started."""
        child, self._child = self._child, None
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # it leads a group of its own
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # what could not be written to it
                        pipe.close()


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | import_environment(),
        start_new_session=True,
    )


def _ask(child: subprocess.Popen[bytes], message: Message, until: float) -> None:
    """Send a line and wait for the answer, a line that says what went wrong, or nothing. Raises Undelivered."""
    assert child.stdin is not None
    assert child.stdout is not None
    answer = b""
    try:
        child.stdin.write(json.dumps(message).encode() + b"\n")
        child.stdin.flush()
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([child.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise Undelivered("timeout")
            piece = os.read(child.stdout.fileno(), 4096)
            if not piece:
                raise Undelivered("its process died")
            answer += piece
    except (OSError, ValueError):  # the pipe is closed
        raise Undelivered("its process died") from None
    if answer.strip():
        raise Undelivered(answer.decode("utf-8", "replace").strip()[:200])
