"""What holds for every test: the same examples in every run, and no connection that leaves this machine."""

import ipaddress
import sys
from typing import Any

from hypothesis import HealthCheck, settings

settings.register_profile(
    "same-everywhere",
    derandomize=True,
    deadline=None,  # a slow machine is not a bug
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same-everywhere")


def _only_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse a connection to anything but loopback or a local socket; forked workers inherit the refusal."""
    if event not in ("socket.connect", "socket.sendto") or not isinstance(arguments[1], tuple):
        return
    host = arguments[1][0]
    if host not in ("localhost", "") and not ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        raise AssertionError(f"a test tried to reach {arguments[1]}: tests stay on loopback")


sys.addaudithook(_only_loopback)
