"""A program of the operator's that is run for each event."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Sequence

from obelics_pipeline.jobs.hooks.chosen import Chosen
from obelics_pipeline.jobs.hooks.hook import Message, Undelivered


class Program:
    """Runs a command with an event as one JSON line on its stdin. What it prints goes nowhere."""

    def __init__(self, name: str, command: Sequence[str], chosen: Chosen, seconds: float) -> None:
        self.name, self.seconds, self.messages = name, seconds, chosen
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def deliver(self, message: Message) -> None:
        """Run the program to its end. Raises Undelivered where it fails, or takes too long and is killed."""
        line = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        quiet = subprocess.DEVNULL
        try:
            process = self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True
            )
        except OSError as error:
            raise Undelivered(f"cannot be started: {error.strerror}") from None
        try:
            process.communicate(line, timeout=self.seconds)
        except subprocess.TimeoutExpired:
            raise Undelivered("timeout") from None
        finally:
            self.close()
        if process.returncode < 0:
            raise Undelivered(f"killed by {signal.Signals(-process.returncode).name}")
        if process.returncode:
            raise Undelivered(f"exit code {process.returncode}")

    def close(self) -> None:
        """Kill the program, if one is running, with all that it has started."""
        process = self._process
        if process is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # it leads a group of its own
            process.wait()
