"""The event log of a run: one JSON object a line, appended and flushed as things happen.

The only file of a run that holds times; nothing is computed from it.

Nothing can be appended to an object. In a store the log of a run at work is `events.jsonl`, as an earlier run left it,
and pieces of what came since: `events/000000000000.jsonl`, named by the byte of the whole log that they begin with. The
last piece grows, and is put again, until it is full. At its end a run puts the log whole and removes the pieces.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from upath import UPath

from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.storage import (
    Location,
    put,
    read_bytes_at,
    remove,
    scratch_of,
    size_of,
    sizes_in,
    write_bytes,
)

Event = Mapping[str, Any]  # a line of a log
PUT_SECONDS = 10.0  # between two puts of the newest lines to an object store
PIECE_BYTES = 4 * 2**20  # of a full piece: no put has more
READ_BYTES = 2 * 2**20  # that are read at a time
LONGEST = 8 * 2**20  # bytes of a line; what is longer is no event
DIGITS = 12  # of a byte in the name of a piece
YEAR_3000 = 32_503_680_000.0  # seconds since 1970: no time of an event is later, whatever a log says


class EventLog:
    """Appends to `events.jsonl`. A run that is started again goes on in the same file.

    In an object store a thread puts what is new, every few seconds. A kill loses the lines since then.

    Passwords and signatures of URLs are hidden. While the log is `held`, nothing is written: a run that is refused
    before `release` leaves no line.
    """

    def __init__(self, place: Location, held: bool = False) -> None:
        self._held: list[Event] | None = [] if held else None
        self._tell: Callable[[Event], None] | None = None
        self._path = scratch_of(place)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._store = None if isinstance(place, Path) else _Puts(place, self._path)
        self._stream = self._path.open("a", encoding="utf-8")
        self._torn = _is_torn(self._path)

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
            if self._torn:
                self._stream.write("\n")
                self._torn = False
            self._stream.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
            self._stream.flush()
        if self._tell is not None:
            for line in lines:
                self._tell(line)

    def close(self) -> None:
        """Close the file; in a store, put it whole."""
        with contextlib.suppress(OSError):
            self._stream.close()
        if self._store is not None:
            self._store.end()


def settle(place: Location) -> None:
    """Make one file of the log that a killed run left in pieces, before what is in it is changed."""
    if not isinstance(place, Path) and sizes_in(_pieces(place)):
        EventLog(place).close()


def _is_torn(path: Path) -> bool:
    """Whether a kill, or a full disk, left half a line at the end: the next one must not go on in it."""
    size = path.stat().st_size
    return size > 0 and read_bytes_at(path, size - 1, 1) != b"\n"


class _Puts:
    """Brings a local log to its place in an object store while it grows. `path` becomes what is there so far."""

    def __init__(self, place: UPath, path: Path) -> None:
        self._place, self._path = place, path
        with path.open("wb") as stream:
            for data in bytes_of(place, 0):
                stream.write(data)
        self._had = self._piece = self._put = path.stat().st_size  # before; where a piece begins; what the store has
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._put_now_and_then, name="event log", daemon=True)
        self._thread.start()

    def _put_now_and_then(self) -> None:
        while not self._ended.wait(PUT_SECONDS):
            with contextlib.suppress(OSError, Stopped):  # the next time all that is new is put again
                self._put_new()

    def _put_new(self) -> None:
        while self._put < self._path.stat().st_size:
            data = read_bytes_at(self._path, self._piece, PIECE_BYTES)
            write_bytes(_pieces(self._place) / f"{self._piece:0{DIGITS}d}.jsonl", data)
            self._put = self._piece + len(data)
            if len(data) == PIECE_BYTES:
                self._piece = self._put

    def end(self) -> None:
        """Put the whole log in place of the pieces. The local one goes."""
        self._ended.set()
        self._thread.join()
        with contextlib.suppress(OSError, Stopped):
            pieces = [_pieces(self._place) / name for name in sizes_in(_pieces(self._place))]
            if pieces or self._path.stat().st_size > self._had:
                put(self._path, self._place)
                remove(pieces)


def _pieces(place: UPath) -> UPath:
    return place.parent / place.stem


def read_events(place: Location) -> list[dict[str, Any]]:
    """The lines of a log, oldest first; an empty list if there is no log. See `Tail`."""
    return list(Tail(place).new())


class Tail:
    """The events of a log, from its beginning and then as it grows: of any size, and from any process."""

    def __init__(self, place: Location) -> None:
        self._place, self._at, self._line = place, 0, b""
        self._too_long = False  # what is left of the line is no event either

    def new(self) -> Iterator[dict[str, Any]]:
        """The events since the last call, oldest first; none where the log cannot be read.

        A line that a killed run left half written, or that is no event, is skipped.
        """
        with contextlib.suppress(OSError):
            for data in bytes_of(self._place, self._at):
                self._at += len(data)
                *lines, rest = data.split(b"\n")
                for line in lines:
                    whole, too_long = self._line + line, self._too_long
                    self._line, self._too_long = b"", False
                    if not too_long and (event := _event(whole)) is not None:
                        yield event
                self._line += rest
                if len(self._line) > LONGEST:
                    self._line, self._too_long = b"", True
        if (event := _event(self._line)) is not None:  # whole, but for its end
            self._line, self._too_long = b"", True
            yield event


def _event(line: bytes) -> dict[str, Any] | None:
    """The event of a line, None of any other line."""
    try:
        event = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        return None
    seconds = event.get("time")
    return event if isinstance(seconds, int | float) and 0 <= seconds < YEAR_3000 else None


def bytes_of(place: Location, start: int) -> Iterator[bytes]:
    """The bytes of a log from `start` on, some MB at a time; none where there is no log. Raises OSError and Stopped."""
    for _ in range(2):  # a run that ends puts the log whole and removes the pieces, which we may be reading
        try:
            for data in _bytes_now(place, start):
                start += len(data)
                yield data
            return
        except FileNotFoundError:
            continue


def _bytes_now(place: Location, at: int) -> Iterator[bytes]:
    pieces = {} if isinstance(place, Path) else sizes_in(_pieces(place))  # before the log itself is looked at
    for data in _part(place, at, size_of(place) or 0):
        at += len(data)
        yield data
    if isinstance(place, Path):
        return
    for begin, name in sorted((int(name.removesuffix(".jsonl")), name) for name in pieces if _is_piece(name)):
        if begin > at:  # what comes between is lost
            return
        for data in _part(_pieces(place) / name, at - begin, pieces[name]):
            at += len(data)
            yield data


def _part(place: Location, at: int, end: int) -> Iterator[bytes]:
    while at < end and (data := read_bytes_at(place, at, min(READ_BYTES, end - at))):
        at += len(data)
        yield data


def _is_piece(name: str) -> bool:
    stem = name.removesuffix(".jsonl")
    return stem != name and stem.isascii() and stem.isdigit()


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
