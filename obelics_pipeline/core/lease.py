"""The right to work in a folder of an object store: one run at a time, and a dead run's right passes on.

A store has no locks, but a conditional put tells who was first. So leases are numbered objects, each created only where
it is absent, and the highest number holds. Its holder renews it by replacing the version that it wrote last. A
process that finds it unchanged for `STALE_SECONDS` ends it by replacing that same version, so that a renewal which is
still on its way is refused; then it creates the next number. The steps are in `lease_protocol`.

Two holders never believe at one moment. A holder believes for `LOST_SECONDS` of its clock, counted from before its last
renewal was sent. Another counts `STALE_SECONDS` of its own clock from after it saw that renewal; if no other came, it
takes over. Clocks are not compared, only their rates: where each differs from true time by at most the share d,

    STALE_SECONDS > LOST_SECONDS * (1 + d) / (1 - d)

suffices, 40.8 s for a d of 1 %. The rest of `STALE_SECONDS` is for the old run to end: its requests, threads, workers.
No delay of a request is in the inequality, and the clock is watched by a thread that makes no requests.

A process that was stopped before it sent a put may send it when another holds the folder, and a network may keep one
for minutes. So the objects directly in the folder, which stand for the whole run, are put only over the version that
was there while the process held the folder (`lease_protocol.overwrite`): what a later holder wrote stays. A later
holder is not protected where it left an object as it was, or removed it, or where it put the same bytes as before on
S3, whose ETag tells bytes and not puts. Objects deeper down are named by their content, or made again where they are
damaged or gone; that no unit is committed twice does not hang on a lease (see `commit`).
"""

from __future__ import annotations

import secrets
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from upath import UPath

from obelics_pipeline.core import lease_protocol as protocol
from obelics_pipeline.core.access import reaching
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.fence import fenced
from obelics_pipeline.core.object_version import replace, version_of
from obelics_pipeline.core.process import is_gone, this_process
from obelics_pipeline.core.storage import create, names_in, read_bytes, remove

RENEW_SECONDS = 10.0  # between two renewals
LOST_SECONDS = 40.0  # a holder believes for so long after its last renewal
STALE_SECONDS = 60.0  # a lease that did not change for so long is over
LOOK_SECONDS = 1.0  # between two looks at somebody else's lease, and at the own clock

Outcome = TypeVar("Outcome")


def _clock() -> float:
    """Seconds that have passed, those in which this machine slept as well: a clock that stops would believe on."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@contextmanager
def leased(folder: UPath) -> Iterator[None]:
    """Hold the folder that the leases' `folder` is in, waiting a minute where that of another may be a dead one's.

    Around the folder stands a fence: see `fence`. Raises UserError where another run has it or where the store cannot
    be written to, Stopped where it is lost.
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
        with fenced(folder.parent, holder):
            yield
    except BaseException:
        if holder.lost:
            raise Stopped(holder.lost) from None
        raise
    finally:
        holder.end()
    if holder.lost:
        raise Stopped(holder.lost)


@dataclass(frozen=True)
class Seen:
    """A lease as a process reads it that does not want it: the holder's value, and seconds of the store's clock."""

    value: Mapping[str, Any]
    changed: float


def last_lease(folder: UPath) -> Seen | None:
    """The lease that holds, or held last; None in a folder without a lease. It only reads.

    Raises OSError and Stopped where the store does not answer.
    """
    numbers = protocol.numbers_of(names_in(folder))
    if not numbers:
        return None
    place = folder / protocol.lease_name(max(numbers))
    try:
        with reaching(place):
            changed = place.fs.modified(place.path).timestamp()
        return Seen(protocol.value_of(_found(place)), changed)
    except FileNotFoundError:  # a later one was taken meanwhile
        return None


class _Holder:
    """One process's lease, the thread that renews it, and the one that watches the clock; the fence of its folder."""

    def __init__(self, folder: UPath) -> None:
        self._folder = folder
        self._lease: protocol.Lease
        self._ended = threading.Event()
        self._renewer = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._watch = threading.Thread(target=self._watch_clock, name="lease clock", daemon=True)
        self.lost = ""  # why, in one line

    def take(self) -> None:
        """Take the lease. Raises UserError where it cannot be had, OSError and Stopped where the store is not."""
        times = protocol.Times(LOST_SECONDS, STALE_SECONDS, LOOK_SECONDS)
        try:
            self._lease = _performed(protocol.take(_this_process(), _clock, times, _is_dead), self._folder)
        except protocol.Refused as refused:
            raise UserError(f"--output {self._folder.parent}: {refused.why}; {refused.remedy}") from None
        self._renewer.start()
        self._watch.start()

    def end(self) -> None:
        """Give the folder back: the next process need not wait."""
        self._ended.set()
        self._watch.join()  # or it would take the end for a loss
        self._renewer.join(timeout=RENEW_SECONDS)
        if not self.lost:
            with suppress(OSError, Stopped, protocol.Followed):
                _performed(protocol.give_back(self._lease), self._folder)

    def check(self) -> None:
        """See `Fence`."""
        if not self.lost and _clock() >= self._lease.until:
            why = "the store could not be reached for too long; run the same command again to continue"
            self.lost = f"--output {self._folder.parent}: {why}"
        if self.lost:
            raise Stopped(self.lost)

    def overwrite(self, target: UPath, body: bytes | Path) -> None:
        """See `Fence`."""
        _performed(protocol.overwrite(target.name, body, self.check), target.parent)

    def _renew(self) -> None:
        times = protocol.Times(LOST_SECONDS, STALE_SECONDS, LOOK_SECONDS)
        while not self._ended.wait(RENEW_SECONDS):
            try:
                _performed(protocol.renew(self._lease, _clock, times), self._folder)
            except protocol.Followed:
                why = "another run took over there, because this one had not renewed its lease in time"
                self.lost = f"--output {self._folder.parent}: {why}"
                return
            except (OSError, Stopped):
                continue  # the next one may come through before the time is over

    def _watch_clock(self) -> None:
        """End the run in time, wherever a request hangs."""
        while not self._ended.wait(LOOK_SECONDS):
            with suppress(Stopped):
                self.check()
                continue
            return self._interrupt()

    def _interrupt(self) -> None:
        """Interrupt the run's main thread as SIGTERM or Ctrl-C would do it.

        Again and again, because code that lets errors of the store go may let this one go as well.
        """
        main = threading.main_thread().ident
        handled = (number for number in (signal.SIGTERM, signal.SIGINT) if callable(signal.getsignal(number)))
        if main is not None and (number := next(handled, None)) is not None:
            signal.pthread_kill(main, number)  # a real signal, which ends a wait as well
            while not self._ended.wait(STALE_SECONDS - LOST_SECONDS):
                signal.pthread_kill(main, number)


def _performed(steps: protocol.Steps[Outcome], folder: UPath) -> Outcome:
    """Perform what the steps ask for in a folder; an error of the store is theirs. Returns what they return."""
    try:
        request = next(steps)
        while True:
            try:
                answer = _answer(request, folder)
            except (OSError, Stopped) as error:
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def _answer(request: protocol.Request, folder: UPath) -> Any:
    match request:
        case protocol.Names():
            return names_in(folder)
        case protocol.Read(name):
            return _found(folder / name)
        case protocol.Version(name):
            return version_of(folder / name)
        case protocol.Create(name, data):
            return create(folder / name, data)
        case protocol.Replace(name, body, version):
            return replace(folder / name, body, version)
        case protocol.Remove(names):
            return remove(folder / name for name in names)
        case protocol.Wait(seconds):
            return time.sleep(seconds)


def _found(place: UPath) -> protocol.Found:
    try:
        return protocol.Found(version_of(place), read_bytes(place))
    except FileNotFoundError:
        return protocol.Found(None, b"")


def _this_process() -> dict[str, Any]:
    return {"owner": secrets.token_hex(8), **this_process(), "renewals": 0, "over": False}


def _is_dead(lease: Mapping[str, Any]) -> bool:
    """Whether its holder is a process of this machine that is no more."""
    return is_gone(lease)
