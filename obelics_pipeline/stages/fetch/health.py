"""Hosts that do not answer at all: after so many failures in a row, the rest of their images is not tried."""

from __future__ import annotations

import threading
from collections import Counter

_SIGNS = frozenset({"timeout", "dns", "refused", "unreachable"})


class HostHealth:
    """Counts failures in a row per host. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._failures: Counter[str] = Counter()
        self._lock = threading.Lock()

    def note(self, host: str, reason: str | None) -> None:
        """Count the failures in a row of a host. `reason`: why a request failed; None after a success."""
        with self._lock:
            self._failures[host] = self._failures[host] + 1 if reason in _SIGNS else 0

    def is_down(self, host: str) -> bool:
        """Whether the host has been given up."""
        return self._failures[host] >= self._limit
