"""Connections that are kept between two requests of a unit, each for the place that it was made for."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address

from obelics_pipeline.net.address import Address
from obelics_pipeline.net.deadline import NOT_YET, DeadlineSocket, DeadlineTLSSocket, NoWait

MAX_IDLE = 128  # connections of one client that wait for a request; a process may have 1,024 files open, by default
# Seconds that one waits: between what Apache (5, KeepAliveTimeout) and nginx (75, keepalive_timeout) grant by default.
# Names are looked up once per unit, so that no answer of a resolver is used for longer than without it.
IDLE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Place:
    """What a connection is made for, and so may be used for again: an origin, directly or through a proxy."""

    scheme: str
    host: str
    port: int
    proxy: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class _Idle:
    place: Place
    connection: http.client.HTTPConnection
    since: float  # seconds of the monotonic clock


class Pool:
    """Counts the connections to each host, and keeps the idle ones. Thread-safe.

    Where no more than `per_host` requests are made to a host at a time it has no more than `per_host` connections.
    """

    def __init__(self, per_host: int) -> None:
        self._per_host = per_host
        self._idle: list[_Idle] = []  # the oldest first
        self._open: Counter[str] = Counter()  # by host, idle ones and those in use
        self._lock = threading.Lock()

    def take(self, place: Place, addresses: Collection[Address] | None) -> http.client.HTTPConnection | None:
        """A connection to this place on which nothing has come unasked, if there is one.

        It leads to one of `addresses`, those that the place may be asked at now; None: to the operator's proxy.
        """
        while (connection := self._latest(place)) is not None:
            if (addresses is None or _leads_to(connection, addresses)) and _is_silent(connection):
                return connection
            self.drop(place, connection)
        return None

    def admit(self, place: Place) -> None:
        """Count a new connection, before it is dialled; idle ones to the host make room for it."""
        with self._lock:
            while self._open[place.host] >= self._per_host and (
                idle := next((one for one in self._idle if one.place.host == place.host), None)
            ):
                self._remove(idle)
            self._open[place.host] += 1

    def give(self, place: Place, connection: http.client.HTTPConnection) -> None:
        """Keep a connection for the next request."""
        with self._lock:
            self._idle.append(_Idle(place, connection, time.monotonic()))
            self._expire()

    def drop(self, place: Place, connection: http.client.HTTPConnection) -> None:
        """Close a connection that was taken or admitted."""
        connection.close()
        with self._lock:
            self._open[place.host] -= 1

    def close(self) -> None:
        """Close all that are kept."""
        with self._lock:
            for idle in list(self._idle):
                self._remove(idle)

    def _latest(self, place: Place) -> http.client.HTTPConnection | None:
        with self._lock:
            self._expire()
            found = next((one for one in reversed(self._idle) if one.place == place), None)
            if found is None:
                return None
            self._idle.remove(found)
            return found.connection

    def _expire(self) -> None:
        before = time.monotonic() - IDLE_SECONDS
        while self._idle and (self._idle[0].since < before or len(self._idle) > MAX_IDLE):
            self._remove(self._idle[0])

    def _remove(self, idle: _Idle) -> None:
        self._idle.remove(idle)
        idle.connection.close()
        self._open[idle.place.host] -= 1


def _leads_to(connection: http.client.HTTPConnection, addresses: Collection[Address]) -> bool:
    try:
        return ip_address(connection.sock.getpeername()[0]) in addresses
    except OSError:  # it was reset
        return False


def _is_silent(connection: http.client.HTTPConnection) -> bool:
    """Whether a connection is open, and no byte has come that nobody asked for."""
    sock = connection.sock
    assert isinstance(sock, (DeadlineSocket, DeadlineTLSSocket))
    sock.begin(NoWait())
    try:
        sock.recv_into(bytearray(1))
    except NOT_YET:
        return True
    except OSError:
        return False
    return False
