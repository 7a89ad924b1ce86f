"""How long a unit's hosts took, for people who wonder what a fetch waits for. It decides nothing, no output has it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

TOLD = 5  # hosts of a unit


@dataclass(slots=True)
class _Host:
    requests: int = 0
    seconds: float = 0.0  # of all requests together
    first: float = 0.0  # when the first began, when the last one ended
    last: float = 0.0


class HostTimes:
    """Requests of a unit by their host. Thread-safe."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()

    @contextmanager
    def request(self, host: str) -> Iterator[None]:
        """Around one request, also one that fails."""
        began = time.monotonic()
        try:
            yield
        finally:
            now = time.monotonic()
            with self._lock:
                found = self._hosts.setdefault(host, _Host(first=began))
                found.requests += 1
                found.seconds += now - began
                found.last = now

    def told(self) -> dict[str, Any]:
        """How many requests there were, and the slowest hosts, for the event log."""
        return {"requests": sum(host.requests for host in self._hosts.values()), "hosts": self._slowest()}

    def _slowest(self) -> list[dict[str, Any]]:
        """The hosts that took longest from their first request to the end of their last, and how much was waiting.

        A host that must be asked slowly is long at work in few seconds of requests.
        """
        ordered = sorted(self._hosts.items(), key=lambda item: item[1].first - item[1].last)
        return [
            {
                "host": name,
                "requests": host.requests,
                "span_seconds": round(host.last - host.first, 3),
                "request_seconds": round(host.seconds, 3),
            }
            for name, host in ordered[:TOLD]
        ]
