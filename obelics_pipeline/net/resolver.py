"""Names to addresses: each name once per unit, in bounded time, all answers checked before any is used."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Collection
from ipaddress import ip_address

from obelics_pipeline.net.address import Address, AllowList, is_public
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import Target

MAX_LOOKUPS = 64  # threads that may hang in getaddrinfo, which has no timeout of its own
MAX_ADDRESSES = 4  # of one name that are tried


class Resolver:
    """Looks names up and remembers the answers, so that what was checked is what is connected to. Thread-safe."""

    def __init__(self, allow: AllowList, ports: Collection[int]) -> None:
        """`ports` are those of public hosts that may be asked; what `allow` has may be asked at its own."""
        self._allow, self._ports = allow, frozenset(ports)
        self._known: dict[str, tuple[Address, ...] | None] = {}
        self._slots = threading.BoundedSemaphore(MAX_LOOKUPS)

    def checked(self, target: Target, deadline: Deadline) -> list[Address]:
        """The addresses to connect to.

        Raises FetchError: dns; private_address where any answer is forbidden; forbidden_port where the port is.
        """
        addresses = (target.address,) if target.address is not None else self._look_up(target, deadline)
        for address in addresses:
            self._demand_permitted(target, address)
        return list(addresses[:MAX_ADDRESSES])

    def check_spelling(self, target: Target) -> None:
        """What can be refused without a look-up, where a proxy does the looking up. Raises FetchError."""
        if self._allow.permits_name(target.host, target.port):
            return
        address = ip_address("127.0.0.1") if target.is_loopback_name else target.address
        if address is not None:
            self._demand_permitted(target, address)
        else:
            self._demand_port(target)

    def _demand_permitted(self, target: Target, address: Address) -> None:
        if self._allow.permits(target.host, address, target.port):
            return
        if not is_public(address):
            raise FetchError("private_address")
        self._demand_port(target)

    def _demand_port(self, target: Target) -> None:
        if target.port not in self._ports:
            raise FetchError("forbidden_port")

    def _look_up(self, target: Target, deadline: Deadline) -> tuple[Address, ...]:
        if target.host not in self._known:
            self._known[target.host] = self._ask(target, deadline)
        known = self._known[target.host]
        if not known:
            raise FetchError("dns")
        return known

    def _ask(self, target: Target, deadline: Deadline) -> tuple[Address, ...] | None:
        answers: queue.SimpleQueue[tuple[Address, ...] | None] = queue.SimpleQueue()
        if not self._slots.acquire(timeout=deadline.remaining()):
            return None

        def ask() -> None:
            try:
                found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
                answers.put(tuple(dict.fromkeys(ip_address(entry[4][0]) for entry in found)))
            except (OSError, UnicodeError, ValueError):
                answers.put(None)
            finally:
                self._slots.release()

        threading.Thread(target=ask, name=f"dns {target.host}", daemon=True).start()
        try:
            return answers.get(timeout=deadline.remaining())
        except queue.Empty:
            return None
