"""The connection goes to the address that was checked, and ends with the deadline."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.net.body import BodyBudget
from obelics_pipeline.net.client import GuardedClient
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError, Redirected
from obelics_pipeline.net.target import parse_target
from tests.net.keeping import Answers, server_tls
from tests.stages.fetch.site import Site, answer, config, fetch, in_turn, picture, raw, redirect


def reason_of(guard: GuardedClient, url: str, seconds: float = 5.0) -> str | None:
    """Why a GET fails; None where it succeeds."""
    budget = BodyBudget(2**24, 4, 2**20)
    try:
        with guard.open(parse_target(url), Deadline(seconds)) as response, budget.request():
            response.demand_body()
            response.read_body(2**20, budget)
    except FetchError as error:
        return error.reason
    return None


def test_the_private_name_of_http_client_that_is_replaced_still_decides_where_a_connection_goes() -> None:
    with Site(fallback=answer(200, b"x")) as site:
        guard = GuardedClient(config(site))
        assert reason_of(guard, site.url("/")) is None
        target, deadline = parse_target(site.url("/")), Deadline(5)
        connection = guard._connection(target, guard._route(target, deadline), deadline)
        connection.host = "192.0.2.1"  # whatever it is called by now: the address was settled before
        connection.connect()
        assert connection.sock.getpeername() == ("127.0.0.1", site.port)
        connection.close()


def test_a_resolver_that_changes_its_mind_is_not_asked_twice(resolver: Answers) -> None:
    with Site(fallback=answer(200, b"x")) as site:
        resolver += [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]]
        guard = GuardedClient(config(site, allow_private=("127.0.0.1/32",)))
        url = f"http://rebind.example:{site.port}/"
        assert [reason_of(guard, url) for _ in range(3)] == [None, None, None]
        assert len(resolver) == 2
        assert len(site.log) == 3
        assert site.log[0].host == f"rebind.example:{site.port}"


def test_one_forbidden_answer_among_allowed_ones_forbids_the_name(resolver: Answers) -> None:
    with Site(fallback=answer(200, b"x")) as site:
        guard = GuardedClient(config(site, allow_private=("127.0.0.1/32",)))
        for n, addresses in enumerate(
            (["127.0.0.1", "127.0.0.2"], ["127.0.0.2"], ["::1"], ["127.0.0.1", "::ffff:127.0.0.2"])
        ):
            resolver.append(addresses)
            assert reason_of(guard, f"http://n{n}.example:{site.port}/") == "private_address"
        assert site.log == []


def test_the_next_address_is_tried_where_one_refuses(resolver: Answers) -> None:
    with Site(fallback=answer(200, b"x")) as site:
        resolver.append(["127.0.0.2", "127.0.0.1"])
        guard = GuardedClient(config(site, allow_private=("127.0.0.0/8",)))
        assert reason_of(guard, f"http://two.example:{site.port}/") is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost.", "0x7f.1", "2130706433", "127.1", "0", "[::1]",
                                  "[::]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"])  # fmt: skip
def test_loopback_is_refused_in_every_spelling_unless_it_is_allowed(host: str) -> None:
    with Site(fallback=answer(200, b"x")) as site:
        guard = GuardedClient(config(site, allow_private=()))
        assert reason_of(guard, f"http://{host}:{site.port}/") == "private_address"
        assert site.log == []


def test_another_port_than_the_allowed_one_is_refused() -> None:
    with Site(fallback=answer(200, b"x")) as allowed, Site(fallback=answer(200, b"x")) as forbidden:
        guard = GuardedClient(config(allowed))
        assert reason_of(guard, allowed.url("/")) is None
        assert reason_of(guard, forbidden.url("/")) == "private_address"
        assert forbidden.log == []


def port_reason(port: int, resolver: Answers, address: str = "93.184.216.34", **changes: Any) -> str | None:
    """Why a port of a public host is not asked."""
    resolver.append([address])
    guard = GuardedClient(FetchingConfig(**changes))
    try:
        guard.open(parse_target(f"http://public.example:{port}/"), Deadline(5))
    except FetchError as error:
        return error.reason
    except AssertionError:  # tests/conftest.py: a connection was on its way
        return None
    raise AssertionError("nothing can answer here")


@pytest.mark.parametrize("port", [1, 21, 22, 23, 25, 53, 81, 3306, 6379, 9200, 11211, 65535])
def test_a_port_on_which_no_pictures_are_served_is_not_asked(port: int, resolver: Answers) -> None:
    assert port_reason(port, resolver) == "forbidden_port"
    assert port_reason(port, resolver, address="10.0.0.1") == "private_address"


def test_ports_of_the_web_are_asked_and_those_that_the_config_names(resolver: Answers) -> None:
    assert [port_reason(port, resolver) for port in (80, 443, 8080, 8443)] == [None] * 4
    assert port_reason(9000, resolver, ports=(80, 9000)) is None
    assert port_reason(8080, resolver, ports=(80, 9000)) == "forbidden_port"
    assert port_reason(9000, resolver, allow_private=("public.example:9000",)) is None
    assert port_reason(9001, resolver, allow_private=("public.example:9000",)) == "forbidden_port"


def test_names_that_do_not_resolve_or_hang_are_dns_failures(monkeypatch: pytest.MonkeyPatch, resolver: Answers) -> None:
    import threading

    with Site() as site:
        guard = GuardedClient(config(site))
        assert reason_of(guard, "http://nowhere.example/") == "dns"
        woken = threading.Event()
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: woken.wait(30) and [])
        assert reason_of(guard, "http://hangs.example/", seconds=0.2) == "dns"
        woken.set()


def test_nobody_listening_is_refused() -> None:
    with Site() as site:
        guard, url = GuardedClient(config(site)), site.url("/")
    assert reason_of(guard, url) == "refused"


@pytest.mark.parametrize(
    "pieces",
    [
        (b"HTTP/1.1 200 OK\r\n", *[b"X-A: b\r\n"] * 400),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", *[b"a"] * 400),
        (b"H", *[b"T"] * 400),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", *[b"a"] * 400),
        (b"HTTP/1.1 200 OK\r\n\r\n", *[b"a"] * 400),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[b"1\r\na\r\n"] * 400),
        tuple([b"HTTP/1.1 100 Continue\r\n\r\n"] * 400),
    ],
    ids=["header-lines", "header-value", "status-line", "body", "body-without-length", "chunks", "continue"],
)
def test_a_slow_drip_is_cut_at_the_deadline_wherever_it_drips(pieces: tuple[bytes, ...]) -> None:
    with Site(fallback=raw(*pieces, pause=0.05)) as site:  # 20 s in all; no single read waits for longer than 0.05 s
        assert reason_of(GuardedClient(config(site)), site.url("/"), seconds=0.5) == "timeout"


@pytest.mark.parametrize(
    ("bytes_", "reason"),
    [
        (b"\x15\x03\x01\x00\x02\x02\x46 garbage\r\n\r\n", "not_http"),
        (b"HTTP/1.1 abc\r\n\r\n", "not_http"),
        (b"", "reset"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n", "not_http"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000 + b"\r\n\r\n", "not_http"),
        (b"HTTP/1.1 200 OK\r\n" + (b"A: " + b"b" * 60_000 + b"\r\n") * 5 + b"\r\n", "not_http"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", "incomplete_body"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc", "not_http"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "incomplete_body"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", "too_large"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc", None),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "http_204"),
        (b"HTTP/1.1 206 Partial\r\n\r\n", "http_206"),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", "http_304"),
        (b"HTTP/1.1 302 Found\r\n\r\n", "http_302"),
        (b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", "redirect"),
        (b"HTTP/1.1 999 Go away\r\n\r\n", "http_999"),
    ],
)
def test_an_odd_answer_has_its_reason(bytes_: bytes, reason: str | None) -> None:
    with Site(fallback=raw(bytes_)) as site:
        assert reason_of(GuardedClient(config(site)), site.url("/")) == reason


def test_a_redirect_is_handed_back_and_not_followed() -> None:
    with Site({"/a": redirect("/b"), "/b": answer(200, b"x")}) as site:
        with (
            GuardedClient(config(site)).open(parse_target(site.url("/a")), Deadline(5)) as response,
            pytest.raises(Redirected),
        ):
            response.demand_body()
        assert site.asked("/b") == 0


class TestBehindAProxy:
    @pytest.fixture(autouse=True)
    def proxy(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
        with Site(fallback=answer(200, b"x")) as site:
            monkeypatch.setenv("http_proxy", f"http://me:s%40crt@127.0.0.1:{site.port}")
            yield site

    def test_names_are_the_proxys_business(self, proxy: Site, resolver: Answers) -> None:
        guard = GuardedClient(config(proxy, allow_private=()))
        assert reason_of(guard, "http://inside.example:8080/a?b") is None
        assert [request.path for request in proxy.log] == ["http://inside.example:8080/a?b"]
        assert proxy.log[0].host == "inside.example:8080"
        assert proxy.log[0].headers["proxy-authorization"] == "Basic bWU6c0BjcnQ="

    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "localhost", "a.localhost", "localhost.", "0x7f.1", "2130706433", "0177.0.0.1", "[::1]",
                 "169.254.169.254", "10.0.0.1", "[::ffff:10.0.0.1]", "[fd00:ec2::254]", "[64:ff9b::a9fe:a9fe]",
                 "１２７.0.0.1"],
    )  # fmt: skip
    def test_literal_private_addresses_never_reach_it(self, proxy: Site, host: str) -> None:
        assert reason_of(GuardedClient(config(proxy, allow_private=())), f"http://{host}/x") == "private_address"
        assert proxy.log == []

    def test_a_port_that_the_config_does_not_name_never_reaches_it(self, proxy: Site) -> None:
        guard = GuardedClient(config(proxy, allow_private=("named.example:25",), ports=(80, 9000)))
        for place in ("inside.example:22", "93.184.216.34:6379", "named.example:26", "inside.example:8080"):
            assert reason_of(guard, f"http://{place}/") == "forbidden_port"
        assert proxy.log == []
        for place in ("inside.example", "inside.example:9000", "named.example:25"):
            assert reason_of(guard, f"http://{place}/") is None

    def test_what_the_config_allows_may_be_asked_through_it(self, proxy: Site) -> None:
        guard = GuardedClient(config(proxy, allow_private=("127.0.0.1/32", "localhost:82")))
        assert reason_of(guard, "http://127.0.0.1:81/") is None
        assert reason_of(guard, "http://localhost:82/") is None
        assert reason_of(guard, "http://localhost:83/") is None  # a name for what 127.0.0.1/32 allows
        assert reason_of(guard, "http://[::1]:82/") == "private_address"

    def test_a_host_without_proxy_is_checked_as_ever(
        self, proxy: Site, monkeypatch: pytest.MonkeyPatch, resolver: Answers
    ) -> None:
        monkeypatch.setenv("no_proxy", "direct.example")
        resolver.append(["127.0.0.1"])
        assert reason_of(GuardedClient(config(proxy, allow_private=())), "http://direct.example/") == "private_address"
        assert proxy.log == []

    def test_a_proxy_that_is_not_there_is_not_the_hosts_fault(
        self, proxy: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Site() as gone:
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{gone.port}")
        assert reason_of(GuardedClient(config(proxy)), "http://some.example/") == "proxy_error"

    @pytest.mark.parametrize("value", ["socks5://h:1", "http://", "https://h:1", "http://h:x"])
    def test_a_proxy_of_another_kind_is_an_error_in_one_line(
        self, proxy: Site, value: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("http_proxy", value)
        with pytest.raises(UserError, match=r"^http_proxy=.*http://proxy\.example:3128"):
            GuardedClient(config(proxy))


class TestTLS:
    def test_a_certificate_that_nobody_vouches_for_is_refused(self, certificate: Path) -> None:
        with Site(fallback=answer(200, b"x"), tls=server_tls(certificate)) as site:
            assert reason_of(GuardedClient(config(site)), site.url("/")) == "tls"
            assert site.log == []

    def test_the_operators_certificates_count(
        self, certificate: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "pem"))
        with Site({"/x": answer(200, picture())}, tls=server_tls(certificate)) as site:
            assert fetch(site, tmp_path, "/x")["/x"].status == "ok"

    def test_the_name_in_the_certificate_counts(
        self, certificate: Path, monkeypatch: pytest.MonkeyPatch, resolver: Answers
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "pem"))
        resolver.append(["127.0.0.1"])
        with Site(fallback=answer(200, b"x"), tls=server_tls(certificate)) as site:
            guard = GuardedClient(config(site, allow_private=("127.0.0.1/32",)))
            assert reason_of(guard, f"https://other.example:{site.port}/") == "tls"

    def test_a_drip_within_tls_is_cut_at_the_deadline(self, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "pem"))
        drip = raw(b"HTTP/1.1 200 OK\r\n", *[b"X-A: b\r\n"] * 400, pause=0.05)
        with Site(fallback=drip, tls=server_tls(certificate)) as site:
            assert reason_of(GuardedClient(config(site)), site.url("/"), seconds=1.0) == "timeout"

    def test_a_handshake_that_never_ends_is_cut_at_the_deadline(self) -> None:
        with Site(fallback=raw(*[b"\x16"] * 400, pause=0.05)) as site:
            assert reason_of(GuardedClient(config(site)), site.url("/").replace("http:", "https:"), seconds=0.5) in (
                "timeout",
                "tls",
            )
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        guard = GuardedClient(config(site, allow_private=("127.0.0.1/32",)))
        assert reason_of(guard, f"https://127.0.0.1:{port}/", seconds=0.5) == "timeout"
        listener.close()


def test_a_retried_answer_is_a_new_one() -> None:
    with Site({"/": in_turn(answer(500), answer(200, b"x"))}) as site:
        guard = GuardedClient(config(site))
        assert [reason_of(guard, site.url("/")) for _ in range(2)] == ["http_500", None]
