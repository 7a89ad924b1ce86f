"""The guarded request: one, to an address that was checked, within a deadline, redirects handed back unfollowed.

A redirect is a new request to a new place: the caller joins its location, and comes back here, where it is checked
like any other. So there is no hop that is not guarded, and no host that is asked out of its turn.

http.client makes the requests: its connections are dialled by one function of ours, and take request after request.
The pool of urllib3 or httpcore would bring retries, redirects and dialling of its own, which a guard must shut off.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.address import Address, AllowList
from obelics_pipeline.net.body import BodyBudget, read_body, read_prefix
from obelics_pipeline.net.deadline import Deadline, DeadlineSocket, DeadlineTLSSocket, NoWait, tls_context
from obelics_pipeline.net.failure import FetchError, Redirected, network_reason
from obelics_pipeline.net.head import BoundedResponse
from obelics_pipeline.net.pool import Place, Pool
from obelics_pipeline.net.proxy import Proxies, Proxy
from obelics_pipeline.net.resolver import Resolver
from obelics_pipeline.net.target import Target


@dataclass(frozen=True)
class Sent:
    """What is sent with a request, which is a POST then."""

    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Route:
    """How a target is reached: through a proxy, or at addresses that were checked for this request."""

    place: Place
    proxy: Proxy | None
    addresses: list[Address]


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str  # or the whole URL, for a proxy
    headers: dict[str, str]
    body: bytes | None = None


REDIRECTS = (301, 302, 303, 307, 308)
MAX_UNREAD = 64 * 2**10  # bytes of a redirect's or an error's body that are read away if they have come already
# How a server's end of a kept connection shows, where it was closed before the request came.
_CLOSED = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)


class GuardedClient:
    """Opens URLs for one unit, and keeps connections from one request to the next until `close`. Thread-safe."""

    def __init__(self, config: FetchingConfig) -> None:
        self._headers = {"User-Agent": config.user_agent, "Accept-Encoding": "identity"}
        self._resolver = Resolver(AllowList(config.allow_private), config.ports)
        self._proxies = Proxies()
        self._tls = tls_context()
        self._pool = Pool(config.per_host)

    def open(self, target: Target, deadline: Deadline, accept: str = "*/*", sent: Sent | None = None) -> Response:
        """Ask for a target; the answer's body is not read yet.

        Raises FetchError for anything but an answer with a body one may read, Redirected for a redirect.
        """
        try:
            route = self._route(target, deadline)
            request = self._request(target, route.proxy, accept, sent)
            answer = self._ask_kept(route, request, deadline) if sent is None else None
            return answer or self._ask_new(target, route, request, deadline)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise FetchError(_reason(error)) from None

    def close(self) -> None:
        """Close the connections that are kept. No request may be under way."""
        self._pool.close()

    def __enter__(self) -> GuardedClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _route(self, target: Target, deadline: Deadline) -> _Route:
        """The guard, before each request, whether its connection is a new one or not. Raises FetchError."""
        proxy = self._proxies.for_target(target)
        if proxy is None:
            return _Route(Place(*target.origin), None, self._resolver.checked(target, deadline))
        self._resolver.check_spelling(target)
        return _Route(Place(*target.origin, (proxy.host, proxy.port)), proxy, [])

    def _request(self, target: Target, proxy: Proxy | None, accept: str, sent: Sent | None) -> _Request:
        headers = self._headers | {"Host": target.authority, "Accept": accept}
        through = proxy is not None and target.scheme == "http"
        if proxy is not None and through:
            headers |= proxy.headers
        path = target.url if through else target.path
        if sent is None:
            return _Request("GET", path, headers)
        return _Request("POST", path, {**headers, "Connection": "close", **sent.headers}, sent.body)

    def _ask_kept(self, route: _Route, request: _Request, deadline: Deadline) -> Response | None:
        """The answer over a kept connection; None if the server had closed it, or none is kept."""
        connection = self._pool.take(route.place, None if route.proxy else route.addresses)
        if connection is None:
            return None
        sock = _socket(connection)
        try:
            return self._ask(route.place, connection, request, deadline)
        except _CLOSED:
            if sock.received:  # it had begun to answer: this is the failure of this request
                raise
            return None

    def _ask_new(self, target: Target, route: _Route, request: _Request, deadline: Deadline) -> Response:
        connection = self._connection(target, route, deadline)
        self._pool.admit(route.place)
        try:
            connection.connect()
        except BaseException:
            self._pool.drop(route.place, connection)
            raise
        return self._ask(route.place, connection, request, deadline)

    def _ask(
        self, place: Place, connection: http.client.HTTPConnection, request: _Request, deadline: Deadline
    ) -> Response:
        try:
            _socket(connection).begin(deadline)
            connection.request(request.method, request.path, body=request.body, headers=request.headers)
            answer = connection.getresponse()
        except BaseException:
            self._pool.drop(place, connection)
            raise
        assert isinstance(answer, BoundedResponse)
        size = answer.size if request.method == "GET" else None
        return Response(self._pool, place, connection, answer, size, deadline)

    def _connection(self, target: Target, route: _Route, deadline: Deadline) -> http.client.HTTPConnection:
        if route.proxy is not None:
            return self._through_proxy(target, route.proxy, deadline)
        connection = self._plain_or_tls(target, target.host, target.port)
        _dial_only(connection, route.addresses, target.port, deadline)
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
        connection.auto_open = 0  # one that was closed is not opened again by itself
        return connection


class Response:
    """An answer whose headers have arrived. A context manager, as urllib's.

    Its end gives the connection back, if after these `size` bytes another request may follow; None: none may.
    """

    def __init__(
        self,
        pool: Pool,
        place: Place,
        connection: http.client.HTTPConnection,
        answer: http.client.HTTPResponse,
        size: int | None,
        deadline: Deadline,
    ) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self._pool, self._place, self._connection = pool, place, connection
        self._answer, self._size, self._deadline = answer, size, deadline
        self._reading = self._closed = False

    def demand_body(self) -> None:
        """Raises Redirected for a redirect, FetchError(http_NNN) for anything else that is not a success."""
        location = self.headers.get("Location")
        if self.status in REDIRECTS and location is not None:
            raise Redirected(location)
        if self.status not in (200, 203):
            raise FetchError(f"http_{self.status}", _retry_after(self.headers.get("Retry-After")))

    def read_body(self, cap: int, budget: BodyBudget) -> bytes:
        """The whole body, content coding undone. Raises FetchError: too_large, timeout, incomplete_body, ..."""
        self._reading = True  # an error leaves it so
        try:
            body = read_body(self._answer, cap, budget, self._deadline)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise FetchError(_reason(error)) from None
        self._reading = False
        return body

    def read_prefix(self, cap: int) -> bytes:
        """The first `cap` bytes of the body. Raises FetchError."""
        self._reading = True
        try:
            prefix = read_prefix(self._answer, cap)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise FetchError(_reason(error)) from None
        self._reading = False
        return prefix

    def close(self) -> None:
        """Keep the connection for the next request, if exactly this answer has come; else close it."""
        if self._closed:
            return
        self._closed = True
        whole = self._is_whole()
        self._answer.close()
        if whole:
            self._pool.give(self._place, self._connection)
        else:
            self._pool.drop(self._place, self._connection)

    def _is_whole(self) -> bool:
        if self._size is None or self._reading or self._connection.sock is None:
            return False
        sock = _socket(self._connection)
        if self.status >= 300 and self._size - sock.received <= MAX_UNREAD:
            sock.deadline = NoWait()
            with suppress(OSError):
                while sock.received < self._size and sock.recv_into(bytearray(self._size - sock.received)):
                    pass
        return sock.received == self._size

    def __enter__(self) -> Response:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _socket(connection: http.client.HTTPConnection) -> DeadlineSocket | DeadlineTLSSocket:
    sock = connection.sock
    assert isinstance(sock, (DeadlineSocket, DeadlineTLSSocket))
    return sock


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
