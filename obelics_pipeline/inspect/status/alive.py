"""Whether a process is at work for a run, as far as one who only reads can tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.lease import RENEW_SECONDS, STALE_SECONDS, last_lease
from obelics_pipeline.core.process import is_gone, is_here
from obelics_pipeline.core.storage import Location
from obelics_pipeline.inspect.report.human import seconds
from obelics_pipeline.inspect.status.untrusted import text_of

LEASES = ".lease"  # the folder of leases in that of a run: see core.folder
SILENT_SECONDS = 3600.0  # a unit that takes longer is killed: a run at work has something to say before


@dataclass(frozen=True)
class Alive:
    """Whether it is at work, and what says so, as the end of a sentence."""

    at_work: bool
    why: str


def alive(folder: Location, process: Mapping[str, Any], last: float | None, now: float) -> Alive:
    """Whether the last start of a run, whose log has no end of it, is at work.

    `process` is what the log says of its process, `last` the time of its last event; times are seconds since 1970.
    Raises OSError and Stopped where a store does not answer.
    """
    return _by_process(process, last, now) if isinstance(folder, Path) else _by_lease(folder / LEASES, now)


def _by_lease(folder: Any, now: float) -> Alive:
    lease = last_lease(folder)
    if lease is None:
        return Alive(False, "no process has a lease of its folder")
    if lease.value.get("over"):
        return Alive(False, "the lease of its folder was given back, and the log has no end")
    host = text_of(lease.value.get("host")) or "a machine without a name"
    if is_gone(lease.value):
        return Alive(False, f"its process on {host} was killed")
    age = max(0.0, now - lease.changed)
    if age <= STALE_SECONDS:
        return Alive(True, f"{host} renewed its lease {seconds(age)} ago")
    every = f"a run renews it every {RENEW_SECONDS:.0f} s"
    return Alive(False, f"{host} renewed its lease {seconds(age)} ago, by the clocks of the store and of here; {every}")


def _by_process(process: Mapping[str, Any], last: float | None, now: float) -> Alive:
    host = text_of(process.get("host")) or "a machine without a name"
    if is_here(process):
        gone = is_gone(process)
        return Alive(not gone, f"its process on {host} {'was killed' if gone else 'is there'}")
    silent = max(0.0, now - (last or 0.0))
    told = f"it runs on {host}, and only that machine sees its process" if process else "its log names no process"
    if silent <= SILENT_SECONDS:
        return Alive(True, f"{told}; its last event is younger than an hour")
    return Alive(False, f"{told}; a run at work has an event in an hour")
