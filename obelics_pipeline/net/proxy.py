"""The operator's proxy, from the environment: http_proxy, https_proxy, no_proxy."""

from __future__ import annotations

import base64
import urllib.request
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.net.target import Target


@dataclass(frozen=True, slots=True)
class Proxy:
    """A forward proxy for http, by CONNECT for https."""

    host: str
    port: int
    headers: dict[str, str]


class Proxies:
    """Which proxy a target goes through, if any. Raises UserError for a proxy that is not http://."""

    def __init__(self) -> None:
        self._environment = urllib.request.getproxies_environment()
        self._proxies = {scheme: _parse(scheme, url) for scheme, url in self._environment.items() if scheme in _SCHEMES}

    def for_target(self, target: Target) -> Proxy | None:
        """The proxy for this target; None: ask it directly."""
        proxy = self._proxies.get(target.scheme) or self._proxies.get("all")
        if proxy is None or urllib.request.proxy_bypass_environment(target.authority, self._environment):  # type: ignore[attr-defined]
            return None
        return proxy


_SCHEMES = ("http", "https", "all")


def _parse(scheme: str, url: str) -> Proxy:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme != "http":
        raise UserError(f"{scheme}_proxy={url}: only a proxy such as http://proxy.example:3128 can be used for images")
    headers = {}
    if parts.username:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(credentials.encode()).decode("ascii")
    return Proxy(host, port or 80, headers)
