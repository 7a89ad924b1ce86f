"""Which addresses may be asked: the public internet, and what the config allows beside it."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# IANA IPv4 Special-Purpose Address Registry, multicast, and one cloud's metadata server on a public address (Azure).
_DENIED_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    )
)  # fmt: skip

_GLOBAL_V6 = IPv6Network("2000::/3")  # RFC 4291: the only range from which global unicast addresses are given out
# IANA IPv6 Special-Purpose Address Registry, within 2000::/3: protocol assignments (with Teredo, ORCHID and
# benchmarking), documentation, AS112.
_DENIED_V6 = tuple(
    IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20")
)  # fmt: skip
_MAPPED = IPv6Network("::ffff:0:0/96")  # RFC 4291 2.5.5.2
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
_SIX_TO_FOUR = IPv6Network("2002::/16")  # RFC 3056


def is_public(address: Address | str) -> bool:
    """Whether an address belongs to the public internet.

    `ipaddress.is_global` is not enough: it lets NAT64, 6to4, multicast and 192.88.99.1 pass. An IPv4 address inside a
    mapped, NAT64 or 6to4 address is what counts; Teredo and IPv4-compatible addresses are never public servers.
    """
    if isinstance(address, str):
        address = ip_address(address)
    inner = _embedded(address) if isinstance(address, IPv6Address) else address
    if isinstance(inner, IPv4Address):
        return not any(inner in network for network in _DENIED_V4) and inner.is_global
    if inner.scope_id is not None or inner not in _GLOBAL_V6:
        return False
    return not any(inner in network for network in _DENIED_V6) and inner.is_global


def _embedded(address: IPv6Address) -> Address:
    """The IPv4 address that packets to `address` would reach, or the address itself."""
    value = int(address)
    if address in _MAPPED or address in _NAT64:
        return IPv4Address(value & 0xFFFF_FFFF)
    if address in _SIX_TO_FOUR:
        return IPv4Address(value >> 80 & 0xFFFF_FFFF)
    return address


class AllowList:
    """The private places a config allows: CIDR networks, single addresses, and host:port. Raises ValueError."""

    def __init__(self, entries: Sequence[str]) -> None:
        self._networks: list[Network] = []
        self._places: set[tuple[str, int]] = set()
        for entry in entries:
            try:
                self._networks.append(ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                self._places.add(_host_and_port(entry))

    def permits(self, host: str, address: Address, port: int) -> bool:
        """Whether this address, reached under this host name and port, may be asked though it is not public."""
        if (host.lower(), port) in self._places or (str(address), port) in self._places:
            return True
        return any(address.version == network.version and address in network for network in self._networks)

    def permits_name(self, host: str, port: int) -> bool:
        """Whether host and port are allowed as such."""
        return (host.lower(), port) in self._places


def _host_and_port(entry: str) -> tuple[str, int]:
    host, colon, port = entry.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 65536) or "/" in host:
        raise ValueError(f"{entry!r} is neither a network such as 127.0.0.1/32 nor host:port such as localhost:8080")
    return host.strip("[]").lower(), int(port)
