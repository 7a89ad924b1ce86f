"""An image URL taken apart once: what is checked is what is connected to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import quote, urljoin, urlsplit

from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.web_host import in_url, is_address, web_host

MAX_URL_LENGTH = 8192  # characters; servers commonly refuse more (RFC 9110 4.1 asks for at least 8000 octets)
_PORTS = {"http": 80, "https": 443}
_SAFE = "%/:=&?~+!$,;'@()*[]-._|"  # left as they are in path and query
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# RFC 6761 6.3, and what hosts files call the same.
_LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. `address` is set where the host is an address in any of its spellings."""

    scheme: str
    host: str  # lower case, IDNA-encoded, without trailing dot; an address in its normal form, without brackets
    port: int
    path: str  # with query, percent-encoded, without fragment
    address: IPv4Address | IPv6Address | None

    @property
    def origin(self) -> tuple[str, str, int]:
        """What a robots.txt is valid for (RFC 9309 2.3)."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = in_url(self.host)
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The normalised absolute URL."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def is_loopback_name(self) -> bool:
        """Whether the name means this machine by standard, whatever a resolver says."""
        return self.host in _LOOPBACK_NAMES or self.host.endswith(".localhost")


def parse_target(url: str) -> Target:
    """Take a URL apart. Raises FetchError(bad_url) for anything that is not a plain http(s) URL."""
    text = url.strip()
    if len(text) > MAX_URL_LENGTH or _CONTROL.search(text) or "\\" in text.split("?")[0].split("#")[0]:
        raise FetchError("bad_url")
    try:
        parts = urlsplit(text)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError:
        raise FetchError("bad_url") from None
    if scheme not in _PORTS or not host or "@" in parts.netloc or port == 0:
        raise FetchError("bad_url")
    name, address = _normal_host(host)
    path = quote(parts.path or "/", safe=_SAFE, errors="replace")
    query = f"?{quote(parts.query, safe=_SAFE, errors='replace')}" if parts.query else ""
    return Target(scheme, name, port or _PORTS[scheme], path + query, address)


def join_location(base: Target, location: str) -> Target:
    """The target of a redirect. Raises FetchError(bad_redirect) where it leads nowhere one could ask."""
    if not location.strip():
        raise FetchError("bad_redirect")
    # http.client decodes headers as Latin-1: the bytes as sent are what is percent-encoded
    text = quote(location.strip().encode("latin-1", "replace"), safe=_SAFE + "#")
    try:
        # urljoin would take "http://" for the page itself
        return parse_target(text if urlsplit(text).scheme else urljoin(base.url, text))
    except (FetchError, ValueError):
        raise FetchError("bad_redirect") from None


def _normal_host(host: str) -> tuple[str, IPv4Address | IPv6Address | None]:
    name = web_host(host)
    if name is None:
        raise FetchError("bad_url")
    name = name.removesuffix(".")
    return name, ip_address(name) if is_address(name) else None
