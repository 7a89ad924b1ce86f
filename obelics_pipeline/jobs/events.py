"""The event log of a run: one JSON object a line, appended and flushed as things happen.

The only file of a run that holds times; nothing is computed from it.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.storage import Location, read_bytes, scratch_of, write_bytes

Event = Mapping[str, Any]  # a line of a log
PUT_SECONDS = 30.0  # between two puts of the log to an object store, at least
PUT_GROWTH = 1.25  # and it must have grown by so much: all puts together move five times its bytes, at most


class EventLog:
    """Appends to `events.jsonl`. A run that is started again goes on in the same file.

    Nothing can be appended to an object: there the log is a local file that is put whole, now and then and at the end.
    A kill loses the lines since then.

    Passwords and signatures of URLs are hidden. While the log is `held`, nothing is written: a run that is refused
    before `release` leaves no line.
    """

    def __init__(self, place: Location, held: bool = False) -> None:
        self._held: list[Event] | None = [] if held else None
        self._tell: Callable[[Event], None] | None = None
        self._place, self._path = place, scratch_of(place)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(place, Path):
            self._path.write_bytes(_so_far(place))
        self._stream = self._path.open("a", encoding="utf-8")
        self._put_at, self._put_bytes = 0.0, 0

    def write(self, event: str, **values: Any) -> None:
        """Write one event. A full disk must not hide the error that matters, so a failed write is let go."""
        line = redacted({"time": round(time.time(), 3), "event": event, **values})
        if self._held is not None:
            self._held.append(line)
        else:
            self._append([line])

    def release(self) -> None:
        """Write what was held, and all that comes."""
        held, self._held = self._held or [], None
        if held:
            self._append(held)

    @contextlib.contextmanager
    def heard_by(self, tell: Callable[[Event], None]) -> Iterator[None]:
        """While the block runs, `tell` is called with each event that is written, as the log has it."""
        self._tell = tell
        try:
            yield
        finally:
            self._tell = None

    def _append(self, lines: Sequence[Event]) -> None:
        with contextlib.suppress(OSError):
            self._stream.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
            self._stream.flush()
        self._put_if_due()
        if self._tell is not None:
            for line in lines:
                self._tell(line)

    def _put_if_due(self) -> None:
        due = time.monotonic() - self._put_at >= PUT_SECONDS
        if not isinstance(self._place, Path) and due and self._stream.tell() >= self._put_bytes * PUT_GROWTH:
            self._put()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._stream.close()
        if not isinstance(self._place, Path):
            self._put()

    def _put(self) -> None:
        self._put_at = time.monotonic()
        with contextlib.suppress(OSError, Stopped):
            data = self._path.read_bytes()
            write_bytes(self._place, data)
            self._put_bytes = len(data)


def read_events(place: Location) -> list[dict[str, Any]]:
    """The lines of a log, oldest first; an empty list if there is no log.

    A line that a killed run left half written, or that is no event, is skipped.
    """
    try:
        lines = read_bytes(place).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and isinstance(event.get("time"), int | float) and "event" in event:
            found.append(event)
    return found


def starts_of(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The events of each start of the run."""
    start: list[Event] = []
    for event in events:
        if event["event"] == "run_started" and start:
            yield start
            start = []
        start.append(event)
    if start:
        yield start


def spans_of(start: Sequence[Event]) -> Iterator[tuple[str, float]]:
    """Each step of a start and its seconds; they follow one another. One that a kill ended lasts to the last event."""
    begun: tuple[str, float] | None = None
    for event in start:
        name, step = event["event"], str(event.get("stage") or event.get("step") or "")
        if name in ("stage_started", "shuffle_started"):
            begun = step, event["time"]
        elif name in ("stage_done", "shuffle_done") and begun is not None and begun[0] == step:
            yield step, max(0.0, event["time"] - begun[1])
            begun = None
    if begun is not None:
        yield begun[0], max(0.0, start[-1]["time"] - begun[1])


def _so_far(place: Location) -> bytes:
    try:
        return read_bytes(place)
    except FileNotFoundError:
        return b""
