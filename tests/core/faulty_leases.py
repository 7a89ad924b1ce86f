"""Leases with one fault each, and the one that had them all: what the simulator must find."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from obelics_pipeline.core import lease_protocol as protocol
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.lease import LOST_SECONDS, RENEW_SECONDS, STALE_SECONDS
from tests.core.lease_simulator import TIMES, Fenced, Life, Process, Put


class CountedFromTheAnswer(Fenced):
    """A renewal counts from when its answer came."""

    def renew(self, process: Process) -> Life:
        assert process.lease is not None
        yield from super().renew(process)
        if not process.lease.over:
            process.lease.until = process.now() + self.times.lost


class WatchedByTheRenewer(Fenced):
    """Only the renewing thread looks at the clock, once its request came back."""

    def believes(self, process: Process) -> bool:
        return process.lease is not None and not process.lost and not process.ended

    def renew(self, process: Process) -> Life:
        assert process.lease is not None
        try:
            yield from super().renew(process)
        finally:
            process.lost = process.lost or process.now() >= process.lease.until


class RenewedWithoutCondition(Fenced):
    """A renewal replaces whatever is there."""

    def renew(self, process: Process) -> Life:
        lease = process.lease
        assert lease is not None
        sent, lease.value = process.now(), dict(lease.value) | {"renewals": lease.value["renewals"] + 1}
        yield Put(protocol.lease_name(lease.number), json.dumps(lease.value).encode())
        if max(int(name[:12]) for name in (yield protocol.Names()) if name[:12].isdigit()) > lease.number:
            raise protocol.Followed
        if not lease.over:
            lease.until = sent + self.times.lost


class RenewedOnceItIsOver(Fenced):
    """A renewal that comes back after the lease was given back lets its process believe again."""

    def renew(self, process: Process) -> Life:
        assert process.lease is not None
        sent = process.now()
        yield from super().renew(process)
        process.lease.until = sent + self.times.lost


class TheSameAgain(Fenced):
    """A renewal that failed is sent again as it was, so that the earlier one is taken for it."""

    def renew(self, process: Process) -> Life:
        assert process.lease is not None
        before = process.lease.value
        try:
            yield from super().renew(process)
        except OSError:
            process.lease.value = before
            raise


class StaleTooSoon(Fenced):
    """A lease is over for others before it is for its holder."""

    times = replace(TIMES, stale=LOST_SECONDS * 0.75)


class WrittenWithoutCondition(Fenced):
    """The clock is looked at, then the object is put over whatever is there."""

    def write(self, process: Process, name: str, body: bytes) -> Life:
        if not self.believes(process):
            raise Stopped("lost")
        yield Put(name, body)


class CheckedBeforeTheVersion(Fenced):
    """The clock is looked at before the version is asked for, which may then be a later holder's."""

    def write(self, process: Process, name: str, body: bytes) -> Life:
        if not self.believes(process):
            raise Stopped("lost")
        version = yield protocol.Version(name)
        yield protocol.Replace(name, body, version)


class Earlier(Fenced):
    """The lease of October 2026, request by request: no condition but on the creation, no clock but the renewer's."""

    def believes(self, process: Process) -> bool:
        return process.lease is not None and not process.lost and not process.ended

    def take(self, process: Process, is_dead: Callable[[Any], bool]) -> Life:
        last = _highest((yield protocol.Names()))
        if last:
            name = protocol.lease_name(last)
            standing = _read((yield protocol.Read(name)))
            deadline = process.now() + STALE_SECONDS
            while not (standing.get("over") or is_dead(standing)):
                yield protocol.Wait(self.times.look)
                if _read((yield protocol.Read(name))) != standing:
                    raise protocol.Refused("another run is working there")
                if process.now() > deadline:
                    break
        name, data = protocol.lease_name(last + 1), json.dumps(process.value).encode()
        first = yield protocol.Create(name, data)
        if not first and _read((yield protocol.Read(name))).get("owner") != process.value["owner"]:
            raise protocol.Refused("another run began there at the same moment")
        if (yield protocol.Create(name, data)):
            raise protocol.Refused("a careless store")
        names = yield protocol.Names()
        if _highest(names) != last + 1:
            yield protocol.Remove([name])
            raise protocol.Refused("another run began there at the same moment")
        yield protocol.Remove([name for name in names if name[:12].isdigit() and int(name[:12]) <= last])
        process.lease = protocol.Lease(last + 1, process.value, None, 0.0)

    def keep(self, process: Process) -> Life:
        lease, renewed = process.lease, process.now()
        assert lease is not None
        while True:
            yield protocol.Wait(RENEW_SECONDS)
            if process.ended:
                return
            try:
                if _highest((yield protocol.Names())) > lease.number:
                    process.lost = True
                    return
                lease.value = dict(lease.value) | {"renewals": lease.value["renewals"] + 1}
                yield Put(protocol.lease_name(lease.number), json.dumps(lease.value).encode())
                renewed = process.now()
            except OSError:
                pass
            if process.now() - renewed > LOST_SECONDS:
                process.lost = True
                return

    def write(self, process: Process, name: str, body: bytes) -> Life:
        yield Put(name, body)

    def give_back(self, process: Process) -> Life:
        assert process.lease is not None
        value = json.dumps(dict(process.lease.value) | {"over": True}).encode()
        yield Put(protocol.lease_name(process.lease.number), value)


def _highest(names: list[str]) -> int:
    return max((int(name[:12]) for name in names if name[:12].isdigit()), default=0)


def _read(found: protocol.Found) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(found.data) if found.version is not None else {"over": True}
    return value
