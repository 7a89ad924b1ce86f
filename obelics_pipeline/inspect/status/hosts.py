"""The slowest hosts of a fetch, as its units tell them: a few of each unit, so that a log may have any number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from obelics_pipeline.inspect.status.untrusted import count_of, list_of, seconds_of, text_of, values_of

HELD = 2_000  # hosts that are held; of more the quickest half go
SHOWN = 10


@dataclass
class Host:
    """A host: requests, the seconds from its first to its last, and those in which one was waited for."""

    host: str
    requests: int = 0
    span_seconds: float = 0.0
    request_seconds: float = 0.0


class Hosts:
    """Adds up what units tell of their hosts."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}

    def add(self, event: dict[str, Any]) -> None:
        """Add those of a unit."""
        for told in map(values_of, list_of(event.get("hosts"))[:SHOWN]):
            span, waited = seconds_of(told.get("span_seconds")), seconds_of(told.get("request_seconds"))
            name = text_of(told.get("host"))
            if name and span is not None and waited is not None:
                found = self._hosts.setdefault(name, Host(name))
                found.requests += count_of(told.get("requests"))
                found.span_seconds += span
                found.request_seconds += waited
        if len(self._hosts) > HELD:
            self._hosts = {host.host: host for host in self._sorted()[: HELD // 2]}

    def slowest(self) -> list[Host]:
        """Those that took longest."""
        return self._sorted()[:SHOWN]

    def _sorted(self) -> list[Host]:
        return sorted(self._hosts.values(), key=lambda host: (-host.span_seconds, host.host))
