"""How a lease is taken, renewed and given back, and how an object is written under it: every step, no effect.

Each function is a generator. It yields a request to one folder of an object store, is sent the answer, and returns the
outcome. `lease` performs the requests on a store; a simulator performs them late, twice or never. `now` reads the
clock of the process, in seconds; it is asked at once, between two requests.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from obelics_pipeline.core.errors import Stopped

TRIES = 5  # of a put that met another at the same moment; the other is a late one of a former holder, and rare
AGAIN_SECONDS = 0.5  # before the next of them
NEVER = "1"  # a version that no object has: an ETag has 32 digits, a generation 16


@dataclass(frozen=True)
class Names:
    """List the folder. Answer: the names of its files."""


@dataclass(frozen=True)
class Read:
    """Read a file and its version, the version first. Answer: `Found`."""

    name: str


@dataclass(frozen=True)
class Version:
    """Answer: the version of a file; None where the file is missing."""

    name: str


@dataclass(frozen=True)
class Create:
    """Put a file that is not there yet. Answer: whether this put was the first."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Replace:
    """Put bytes, or a local file, over a version, None: over no file. Answer: the new version; None if refused."""

    name: str
    body: bytes | Path
    version: str | None


@dataclass(frozen=True)
class Remove:
    """Remove files. Answer: None."""

    names: Sequence[str]


@dataclass(frozen=True)
class Wait:
    """Let time pass. Answer: None."""

    seconds: float


class Found(NamedTuple):
    """A file as it was read: its version (None: it is missing), and its bytes, which may be newer."""

    version: str | None
    data: bytes


Request = Names | Read | Version | Create | Replace | Remove | Wait
Outcome = TypeVar("Outcome")
Steps = Generator[Request, Any, Outcome]


@dataclass(frozen=True)
class Times:
    """Seconds: see the constants of `lease`."""

    lost: float
    stale: float
    look: float


class Refused(Exception):
    """The folder cannot be held. `remedy` says what a person can do."""

    def __init__(self, why: str, remedy: str = "give another folder") -> None:
        super().__init__(why, remedy)
        self.why, self.remedy = why, remedy


class Followed(Exception):
    """Another process holds the folder now."""


@dataclass
class Lease:
    """A lease that a process took: what it wrote last, in which version, and until when it may believe to have it."""

    number: int
    value: Mapping[str, Any]
    version: str | None
    until: float  # on the process's own clock
    over: bool = False  # the process gave it back; a renewal may still be on its way


def lease_name(number: int) -> str:
    """The name of a lease in its folder."""
    return f"{number:012d}.json"


def take(
    value: Mapping[str, Any], now: Callable[[], float], times: Times, is_dead: Callable[[Mapping[str, Any]], bool]
) -> Steps[Lease]:
    """Create the lease after the last one, once that is over. Raises Refused.

    `value` describes the process; `is_dead` tells of another's value that its process is known to be gone.
    """
    last = max(numbers_of((yield Names())), default=0)
    if last:
        yield from _end(lease_name(last), now, times, is_dead)
    name, data, sent = lease_name(last + 1), _data(value), now()
    yield Create(name, data)
    found = yield Read(name)  # who was first: the answer to a put may be lost, and the put sent again
    if value_of(found).get("owner") != value["owner"]:
        raise Refused("another run began there at the same moment")
    yield from _refuse_careless_store(name, data)
    numbers = numbers_of((yield Names()))
    if max(numbers, default=0) != last + 1:  # it was taken and removed since the first listing
        yield Remove([name])
        raise Refused("another run began there at the same moment")
    yield Remove([lease_name(number) for number in numbers if number <= last])
    lease = Lease(last + 1, value, found.version, sent + times.lost)
    if now() >= lease.until:
        with suppress(Followed):
            yield from give_back(lease)
        raise Refused(f"the store took more than {times.lost:g} s to answer", "run the same command again later")
    return lease


def renew(lease: Lease, now: Callable[[], float], times: Times) -> Steps[None]:
    """Say that the holder lives. It then may believe for `times.lost` after the moment before its put was sent.

    Raises Followed where another process took over.
    """
    sent = now()
    yield from _rewrite(lease, {"renewals": lease.value["renewals"] + 1})
    if max(numbers_of((yield Names())), default=0) > lease.number:
        raise Followed
    if not lease.over:
        lease.until = sent + times.lost


def give_back(lease: Lease) -> Steps[None]:
    """Say that the lease is over: the next process need not wait. Raises Followed where another process took over."""
    lease.over, lease.until = True, -math.inf
    yield from _rewrite(lease, {"over": True})


def overwrite(name: str, body: bytes | Path, check: Callable[[], None]) -> Steps[None]:
    """Put a file over what is there, as the holder; `check` raises Stopped where the process is the holder no more.

    The version is asked for before the check, so a later holder has not written yet. Once it has, the version is
    another, and the put is refused, however late it arrives.
    """
    for _ in range(TRIES):
        version = yield Version(name)
        check()
        if (yield Replace(name, body, version)) is not None:
            return
        yield Wait(AGAIN_SECONDS)
    raise Stopped(f"{name}: another process writes it again and again; stop that, then run the same command again")


def _end(
    name: str, now: Callable[[], float], times: Times, is_dead: Callable[[Mapping[str, Any]], bool]
) -> Steps[None]:
    """End a lease that is dead or stale, so that a late renewal is refused. Raises Refused where its holder lives."""
    first = yield Read(name)
    seen, value = now(), value_of(first)
    if value.get("over"):
        return
    living = Refused(
        f"another run is working there ({value.get('host')}, process {value.get('process')})", "wait for it, or stop it"
    )
    while not is_dead(value) and now() < seen + times.stale:
        yield Wait(times.look)
        if (yield Version(name)) != first.version:
            raise living
    ended = yield Replace(name, _data({**value, "over": True}), first.version)
    if ended is None and not value_of((yield Read(name))).get("over"):  # else it was ended before, by us or by another
        raise living


def _refuse_careless_store(name: str, data: bytes) -> Steps[None]:
    """Raises Refused for a store that takes no notice of a condition; `name` is there, and holds `data`."""
    careless = "this store, or its file system's version, {} (it must refuse {}), and runs are not safe there"
    if (yield Create(name, data)):
        raise Refused(careless.format("creates what exists already", "If-None-Match: *"))
    if (yield Replace(name, data, NEVER)) is not None:
        raise Refused(careless.format("replaces what has changed", "If-Match with another ETag"))


def _rewrite(lease: Lease, changes: Mapping[str, Any]) -> Steps[None]:
    """Replace our lease in the version that we know. Raises Followed where it is ours no more.

    A value is put by one call only, whatever becomes of it: that it stands there tells that this put came through.
    """
    lease.value = value = {**lease.value, **changes}
    name, data, known = lease_name(lease.number), _data(value), lease.version
    for _ in range(TRIES):
        version = yield Replace(name, data, known)
        if version is None:  # of an earlier put of ours, or of this one, the answer was lost
            found = yield Read(name)
            standing, known = value_of(found), found.version
            if standing.get("owner") != value["owner"] or (standing.get("over") and not value["over"]):
                break
            version = known if standing == value else None
        if version is not None:
            lease.version = version
            return
    raise Followed


def numbers_of(names: Iterable[str]) -> list[int]:
    """The numbers of the leases among the files of their folder."""
    stems = (name.removesuffix(".json") for name in names)
    return [int(stem) for stem in stems if stem.isdigit()]


def _data(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode()


def value_of(found: Found) -> dict[str, Any]:
    """A lease; one that is gone or not ours to read is over."""
    try:
        value = json.loads(found.data) if found.version is not None else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"over": True}
