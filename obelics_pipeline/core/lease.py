"""The right to work in a folder of an object store: one run at a time, and a dead run's right passes on.

A store has no locks, but a conditional put tells who was first. So leases are numbered objects, each created only where
it is absent, and the highest number holds. Its holder renews it; a lease that nobody renews any more is followed by the
next number, and a holder who finds a higher number than its own stops. No clock is compared with another machine's.

This spares work and confusion; that no unit is committed twice does not hang on it (see `commit`).
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.storage import Location, create, names_in, read_bytes, remove, write_bytes

RENEW_SECONDS = 10.0  # between two renewals
LOST_SECONDS = 40.0  # a holder that could not renew for so long stops
STALE_SECONDS = 60.0  # a lease that did not change for so long is over: later than its holder could think it has it
LOOK_SECONDS = 1.0  # between two looks at somebody else's lease


@contextmanager
def leased(folder: Location) -> Iterator[None]:
    """Hold the folder's lease, waiting a minute where that of another may be a dead one's.

    Raises UserError where another run has it or where the store cannot be written to, Stopped where it is lost.
    """
    holder = _Holder(folder)
    try:
        holder.take()
    except Stopped as error:
        raise UserError(f"--output {error}") from None
    except OSError as error:
        raise UserError(
            f"--output {folder.parent}: cannot be written to ({error.strerror or error}); give another bucket or folder"
        ) from None
    try:
        yield
    except BaseException:
        if holder.lost:
            raise Stopped(holder.lost) from None
        raise
    finally:
        holder.end()
    if holder.lost:
        raise Stopped(holder.lost)


class _Holder:
    """One process's lease, and the thread that renews it."""

    def __init__(self, folder: Location) -> None:
        self._folder = folder
        self._value: dict[str, Any] = {
            "owner": secrets.token_hex(8),
            "host": socket.gethostname(),
            "processes": _processes(),
            "process": os.getpid(),
            "renewals": 0,
            "over": False,
        }
        self._number = 0
        self._stop = threading.Event()
        self._renewer = threading.Thread(target=self._renew, name="lease", daemon=True)
        self.lost = ""  # why, in one line

    def take(self) -> None:
        """Create the lease after the last one, if that is over."""
        last = _highest(self._folder)
        if last:
            self._wait_for(last)
        self._number = last + 1
        if not create(self._place(), self._data()) and not self._is_ours():
            raise self._refused("another run began there at the same moment")
        if create(self._place(), self._data()):
            raise self._refused(
                "this store, or its file system's version, creates what exists already (it must refuse If-None-Match: "
                "*), and runs are not safe there"
            )
        if _highest(self._folder) != self._number:
            remove([self._place()])
            raise self._refused("another run began there at the same moment")
        remove(_place(self._folder, number) for number in _numbers(self._folder) if number < self._number)
        self._renewer.start()

    def end(self) -> None:
        """Give the folder back: the next process need not wait."""
        self._stop.set()
        self._renewer.join(timeout=RENEW_SECONDS)
        if not self.lost:
            self._value["over"] = True
            with suppress(OSError, Stopped):
                write_bytes(self._place(), self._data())

    def _wait_for(self, number: int) -> None:
        """Until the lease of this number is over. Raises UserError where its holder lives."""
        first = _read(_place(self._folder, number))
        deadline = time.monotonic() + STALE_SECONDS
        while not _is_over(first):
            time.sleep(LOOK_SECONDS)
            if _read(_place(self._folder, number)) != first:
                where = f"{first.get('host')}, process {first.get('process')}"
                raise self._refused(f"another run is working there ({where})", "wait for it, or stop it")
            if time.monotonic() > deadline:
                return

    def _renew(self) -> None:
        renewed = time.monotonic()
        while not self._stop.wait(RENEW_SECONDS):
            with suppress(OSError, Stopped):
                if _highest(self._folder) > self._number:
                    return self._lose("another run took over there, because this one had not renewed its lease in time")
                self._value["renewals"] += 1
                write_bytes(self._place(), self._data())
                renewed = time.monotonic()
            if time.monotonic() - renewed > LOST_SECONDS:
                return self._lose("the store could not be reached for too long; run the same command again to continue")

    def _lose(self, why: str) -> None:
        """End the run, wherever it is: its main thread is interrupted as SIGTERM or Ctrl-C would do it."""
        self.lost = f"--output {self._folder.parent}: {why}"
        main = threading.main_thread().ident
        handled = (number for number in (signal.SIGTERM, signal.SIGINT) if callable(signal.getsignal(number)))
        if main is not None and (number := next(handled, None)) is not None:
            signal.pthread_kill(main, number)  # a real signal, which ends a wait as well

    def _is_ours(self) -> bool:
        """A put whose answer was lost on the way is sent again, and refused: it was the first after all."""
        return bool(_read(self._place()).get("owner") == self._value["owner"])

    def _place(self) -> Location:
        return _place(self._folder, self._number)

    def _data(self) -> bytes:
        return json.dumps(self._value).encode()

    def _refused(self, why: str, remedy: str = "give another folder") -> UserError:
        return UserError(f"--output {self._folder.parent}: {why}; {remedy}")


def _place(folder: Location, number: int) -> Location:
    return folder / f"{number:012d}.json"


def _numbers(folder: Location) -> list[int]:
    stems = (name.removesuffix(".json") for name in names_in(folder))
    return [int(stem) for stem in stems if stem.isdigit()]


def _highest(folder: Location) -> int:
    return max(_numbers(folder), default=0)


def _read(place: Location) -> dict[str, Any]:
    """A lease; one that is gone or not ours to read is over."""
    try:
        value = json.loads(read_bytes(place))
    except (FileNotFoundError, ValueError):
        return {"over": True}
    return value if isinstance(value, dict) else {"over": True}


def _is_over(lease: dict[str, Any]) -> bool:
    """Whether its holder said so, or is a process of this machine that is no more."""
    if lease.get("over"):
        return True
    process = lease.get("process")
    here = lease.get("processes") == _processes() and isinstance(process, int)
    return here and not Path(f"/proc/{process}").exists()


def _processes() -> str:
    """Names the processes whose numbers are distinct: those of one start of a machine, in one container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:  # no Linux: nobody is known to be dead
        return secrets.token_hex(8)
