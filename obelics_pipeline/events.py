"""The event log of a run: one JSON object a line, appended and flushed as things happen.

The only file of a run that holds times; nothing is computed from it.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any


class EventLog:
    """Appends to `events.jsonl`. A run that is started again goes on in the same file."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("a", encoding="utf-8")

    def write(self, event: str, **values: Any) -> None:
        """Write one event. A full disk must not hide the error that matters, so a failed write is let go."""
        line = {"time": round(time.time(), 3), "event": event, **values}
        with contextlib.suppress(OSError):
            self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._stream.close()
