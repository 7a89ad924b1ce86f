"""The guarded request: one, to an address that was checked, within a deadline, redirects handed back unfollowed.

A redirect is a new request to a new place: the caller joins its location, and comes back here, where it is checked
like any other. So there is no hop that is not guarded, and no host that is asked out of its turn.
"""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.address import Address, AllowList
from obelics_pipeline.net.body import BodyBudget, read_body, read_prefix
from obelics_pipeline.net.deadline import Deadline, DeadlineSocket, DeadlineTLSSocket, tls_context
from obelics_pipeline.net.failure import FetchError, Redirected, network_reason
from obelics_pipeline.net.head import BoundedResponse
from obelics_pipeline.net.proxy import Proxies, Proxy
from obelics_pipeline.net.resolver import Resolver
from obelics_pipeline.net.target import Target


@dataclass(frozen=True)
class Sent:
    """What is sent with a request, which is a POST then."""

    body: bytes
    headers: Mapping[str, str]


REDIRECTS = (301, 302, 303, 307, 308)


class GuardedClient:
    """Opens URLs for one unit. Thread-safe."""

    def __init__(self, config: FetchingConfig) -> None:
        self._headers = {"User-Agent": config.user_agent, "Accept-Encoding": "identity", "Connection": "close"}
        self._resolver = Resolver(AllowList(config.allow_private), config.ports)
        self._proxies = Proxies()
        self._tls = tls_context()

    def open(self, target: Target, deadline: Deadline, accept: str = "*/*", sent: Sent | None = None) -> Response:
        """Ask for a target; the answer's body is not read yet.

        Raises FetchError for anything but an answer with a body one may read, Redirected for a redirect.
        """
        try:
            connection = self._connection(target, deadline)
        except OSError as error:
            raise FetchError(network_reason(error)) from None
        try:
            answer = self._ask(connection, target, deadline, accept, sent)
            return Response(connection, answer, deadline)
        except BaseException as error:
            connection.close()
            if isinstance(error, (OSError, http.client.HTTPException, ValueError)):
                raise FetchError(_reason(error)) from None
            raise

    def _ask(
        self,
        connection: http.client.HTTPConnection,
        target: Target,
        deadline: Deadline,
        accept: str,
        sent: Sent | None,
    ) -> http.client.HTTPResponse:
        proxy = self._proxies.for_target(target)
        headers = self._headers | {"Host": target.authority, "Accept": accept}
        if proxy is not None and target.scheme == "http":
            headers |= proxy.headers
        connection.connect()
        if isinstance(connection.sock, DeadlineTLSSocket):
            connection.sock.deadline = deadline
        place = target.url if proxy and target.scheme == "http" else target.path
        if sent is None:
            connection.request("GET", place, headers=headers)
        else:
            connection.request("POST", place, body=sent.body, headers={**headers, **sent.headers})
        return connection.getresponse()

    def _connection(self, target: Target, deadline: Deadline) -> http.client.HTTPConnection:
        proxy = self._proxies.for_target(target)
        if proxy is not None:
            self._resolver.check_spelling(target)
            return self._through_proxy(target, proxy, deadline)
        addresses = self._resolver.checked(target, deadline)
        connection = self._plain_or_tls(target, target.host, target.port)
        _dial_only(connection, addresses, target.port, deadline)
        return connection

    def _through_proxy(self, target: Target, proxy: Proxy, deadline: Deadline) -> http.client.HTTPConnection:
        connection = self._plain_or_tls(target, proxy.host, proxy.port)
        if target.scheme == "https":
            connection.set_tunnel(target.host, target.port, headers=proxy.headers)
        # the operator's own proxy may well be private: it is not checked
        _dial_only(connection, [proxy.host], proxy.port, deadline, failure="proxy_error")
        return connection

    def _plain_or_tls(self, target: Target, host: str, port: int) -> http.client.HTTPConnection:
        connection = (
            http.client.HTTPSConnection(host, port, context=self._tls)
            if target.scheme == "https"
            else http.client.HTTPConnection(host, port)
        )
        connection.response_class = BoundedResponse
        return connection


class Response:
    """An answer whose headers have arrived. A context manager, as urllib's."""

    def __init__(
        self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse, deadline: Deadline
    ) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self._connection, self._answer, self._deadline = connection, answer, deadline

    def demand_body(self) -> None:
        """Raises Redirected for a redirect, FetchError(http_NNN) for anything else that is not a success."""
        location = self.headers.get("Location")
        if self.status in REDIRECTS and location is not None:
            raise Redirected(location)
        if self.status not in (200, 203):
            raise FetchError(f"http_{self.status}", _retry_after(self.headers.get("Retry-After")))

    def read_body(self, cap: int, budget: BodyBudget) -> bytes:
        """The whole body, content coding undone. Raises FetchError: too_large, timeout, incomplete_body, ..."""
        try:
            return read_body(self._answer, cap, budget, self._deadline)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise FetchError(_reason(error)) from None

    def read_prefix(self, cap: int) -> bytes:
        """The first `cap` bytes of the body. Raises FetchError."""
        try:
            return read_prefix(self._answer, cap)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise FetchError(_reason(error)) from None

    def close(self) -> None:
        """Give the connection back to the system."""
        self._answer.close()
        self._connection.close()

    def __enter__(self) -> Response:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _dial_only(
    connection: http.client.HTTPConnection,
    hosts: list[Address] | list[str],
    port: int,
    deadline: Deadline,
    failure: str | None = None,
) -> None:
    """Make `connection.connect()` go to these addresses and nowhere else: no second look-up happens.

    Where none answers, FetchError(failure) is raised, or what the last one raised.
    """

    def dial(_address: Any, _timeout: Any = None, _source: Any = None) -> socket.socket:
        for number, host in enumerate(hosts, 1):
            try:
                return _dial(str(host), port, deadline, share=len(hosts) - number + 1)
            except OSError:  # not kept in a name: it holds this frame, and so all that its callers will have read
                if number == len(hosts):
                    if failure is not None:
                        raise FetchError(failure) from None
                    raise
        raise OSError("no address")

    # a private name of http.client, stable since Python 3.5; tests/net/test_client.py notices if it goes
    connection._create_connection = dial  # type: ignore[attr-defined]


def _dial(host: str, port: int, deadline: Deadline, share: int) -> socket.socket:
    """Connect within a fair share of the time left, so that one dead address does not cost the others theirs."""
    if not host[:1].isdigit() and ":" not in host:  # the name of a proxy
        host = str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    dialled = DeadlineSocket(family, socket.SOCK_STREAM)
    dialled.deadline = deadline
    try:
        dialled.settimeout(deadline.remaining() / share)
        dialled.connect((host, port))
    except BaseException:
        dialled.close()
        raise
    return dialled


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and str(error).startswith("Tunnel connection failed"):
        return "proxy_error"
    return network_reason(error) if isinstance(error, (OSError, http.client.HTTPException)) else "not_http"


def _retry_after(value: str | None) -> float | None:
    """Seconds; the form with a date is ignored, as it would be read against our clock."""
    return float(value) if value is not None and value.isascii() and value.isdigit() and len(value) < 6 else None
