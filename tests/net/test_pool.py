"""A connection is used again only where nothing but whole answers came over it, and never past the guard."""

from __future__ import annotations

import gzip
import socket
import threading
from pathlib import Path

import pytest

from obelics_pipeline.net import pool
from obelics_pipeline.net.body import BodyBudget
from obelics_pipeline.net.client import GuardedClient, Sent
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import parse_target
from tests.net.keeping import Answers, KeepingSite, hang_up, reset_now, server_tls, then_close, tunnel
from tests.stages.fetch.site import Behaviour, Request, Site, answer, config, fetch, in_turn, picture, raw, redirect

CAP = 100_000
GOOD = b"what was asked for"
EVIL = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
OK = b"HTTP/1.1 200 OK\r\n"


def ask(guard: GuardedClient, url: str, seconds: float = 5.0, cap: int = CAP) -> bytes | str:
    """The body of a GET, or why there is none."""
    budget = BodyBudget(2**24, 4, cap)
    try:
        with guard.open(parse_target(url), Deadline(seconds)) as response, budget.request():
            response.demand_body()
            return response.read_body(cap, budget)
    except FetchError as error:
        return error.reason


def site_of(**pages: Behaviour) -> KeepingSite:
    """A site of these pages; all others are good."""
    return KeepingSite({f"/{name}": behave for name, behave in pages.items()}, fallback=answer(200, GOOD))


@pytest.mark.parametrize("per_host", [1, 2, 3])
def test_many_images_of_a_host_come_over_as_many_connections_as_it_may_be_asked_at_a_time(
    per_host: int, tmp_path: Path
) -> None:
    pages = {f"/{n}.jpg": answer(200, picture(size=(40, 30 + n))) for n in range(30)}
    with KeepingSite(pages) as site:
        results = fetch(site, tmp_path, *pages, per_host=per_host)
        assert {result.reason for result in results.values()} == {None}
        assert len(site.log) == 31  # and a robots.txt
        assert site.connections <= per_host
        assert site.wait(lambda site: site.now == 0), "some are open after the unit"


def test_the_same_over_tls(certificate: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "pem"))
    pages = {f"/{n}.jpg": answer(200, picture(size=(40, 30 + n))) for n in range(10)}
    with KeepingSite(pages, tls=server_tls(certificate)) as site:
        results = fetch(site, tmp_path, *pages)
        assert {result.reason for result in results.values()} == {None}
        assert site.connections <= 2
        assert site.wait(lambda site: site.now == 0)


def test_results_are_those_of_a_site_that_closes_each_connection(tmp_path: Path) -> None:
    kinds = [picture(), b"<html>", b"", picture()[:-30], gzip.compress(b"x")]
    pages = {f"/{n}": answer(200, kinds[n % 5]) for n in range(20)}
    pages |= {f"/not{n}": answer(404, b"no") for n in range(5)} | {f"/to{n}": redirect(f"/{n}") for n in range(5)}
    with KeepingSite(pages) as kept, Site(pages) as closed:
        found = [fetch(site, tmp_path / str(site.port), *pages) for site in (kept, closed)]
        assert kept.connections <= 2
    said = [{path: (r.status, r.reason, r.sha256, r.width) for path, r in results.items()} for results in found]
    assert said[0] == said[1]


LEAVES_DOUBT = {
    "a second answer": (raw(OK + b"Content-Length: 2\r\n\r\nab" + EVIL), b"ab"),
    "much of a second answer": (raw(OK + b"Content-Length: 2\r\n\r\nab" + EVIL * 3000), b"ab"),
    "a longer body": (raw(OK + b"Content-Length: 2\r\n\r\nabc"), b"ab"),
    "an answer without a body that has one": (raw(b"HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n" + EVIL), "http_204"),
    "a body where none may be": (raw(b"HTTP/1.1 304 No\r\nContent-Length: 2\r\n\r\nab" + EVIL), "http_304"),
    "two lengths": (raw(OK + b"Content-Length: 2\r\nContent-Length: 43\r\n\r\nab" + EVIL), b"ab"),
    "one length twice": (raw(OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nab"), b"ab"),
    "a length with a sign": (raw(OK + b"Content-Length: +2\r\n\r\nab"), b"ab"),
    "a length with a line": (raw(OK + b"Content-Length: 1_0\r\n\r\n0123456789"), b"0123456789"),
    "a length in other digits": (raw(OK + "Content-Length: \xb2\r\n\r\nab".encode("latin-1"), pause=0), None),
    "chunks": (raw(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"), b"ab"),
    "trailers": (raw(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX: " + EVIL + b"\r\n\r\n"), b"ab"),
    "chunks and a length": (
        raw(OK + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nab\r\n0\r\n\r\n"), b"ab",
    ),
    "another coding": (raw(OK + b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nab"), b"ab"),
    "a head before": (raw(b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nab"), b"ab"),
    "early hints": (raw(b"HTTP/1.1 103 Early\r\nContent-Length: 0\r\n\r\n" + EVIL), "http_103"),
    "another protocol": (raw(b"HTTP/1.1 101 Switching\r\nContent-Length: 0\r\nUpgrade: x\r\n\r\n"), "http_101"),
    "HTTP/1.0": (raw(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nab"), b"ab"),
    "close": (answer(200, b"ab", Connection="close"), b"ab"),
    "close in a second line": (
        raw(OK + b"Connection: keep-alive\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nab"), b"ab",
    ),
    "close of a proxy": (answer(200, b"ab", Proxy_Connection="close"), b"ab"),
    "a line that is no header": (raw(OK + b"Content-Length: 2\r\nno header\r\nConnection: close\r\n\r\nab"), b"ab"),
    "too large": (answer(200, bytes(CAP + 1)), "too_large"),
    "too large when unpacked": (answer(200, gzip.compress(bytes(2 * CAP)), Content_Encoding="gzip"), "too_large"),
    "a broken coding": (answer(200, b"\x1f\x8bxxxxxxxxxxxxxxxx", Content_Encoding="gzip"), "bad_content_encoding"),
    "an unknown coding": (answer(200, b"ab", Content_Encoding="br"), "bad_content_encoding"),
    "a large page of an error": (answer(404, bytes(CAP)), "http_404"),
    "half a page of an error": (raw(b"HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nab"), "http_404"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEAVES_DOUBT)
def test_after_an_answer_that_leaves_a_doubt_the_connection_is_closed(name: str) -> None:
    behave, said = LEAVES_DOUBT[name]
    with site_of(odd=behave) as site, GuardedClient(config(site)) as guard:
        if said is not None:
            assert ask(guard, site.url("/odd")) == said
        else:
            assert ask(guard, site.url("/odd"), seconds=0.3) == "timeout"  # it has no end that we could know
        assert site.wait(lambda site: site.now == 0)
        assert [ask(guard, site.url("/good")) for _ in range(2)] == [GOOD, GOOD]
        assert site.over == [0, 1, 1]


@pytest.mark.parametrize(
    ("behave", "said"),
    [
        (answer(200, b"ab"), b"ab"),
        (answer(200, bytes(CAP)), bytes(CAP)),
        (answer(200, b"", Connection="Keep-Alive"), b""),
        (answer(200, gzip.compress(b"ab" * 20_000), Content_Encoding="gzip"), b"ab" * 20_000),
        (answer(203, b"ab"), b"ab"),
        (answer(404, b"not here"), "http_404"),
        (answer(500, b""), "http_500"),
        (redirect("/elsewhere"), "redirect"),
    ],
)
def test_after_a_plain_answer_it_is_used_again(behave: Behaviour, said: bytes | str) -> None:
    with site_of(plain=behave) as site, GuardedClient(config(site)) as guard:
        assert [ask(guard, site.url("/plain")), ask(guard, site.url("/good"))] == [said, GOOD]
        assert site.over == [0, 0]


def test_what_comes_unasked_after_the_answer_is_not_the_next_one() -> None:
    told, come = threading.Event(), threading.Event()

    def late(sock: socket.socket, request: Request) -> None:
        answer(200, b"ab")(sock, request)
        told.wait(20)
        sock.sendall(EVIL)
        come.set()

    with site_of(late=late) as site, GuardedClient(config(site)) as guard:
        assert ask(guard, site.url("/late")) == b"ab"
        told.set()
        assert come.wait(20)
        assert ask(guard, site.url("/good")) == GOOD
        assert site.over == [0, 1]


def test_the_page_of_an_error_is_read_away_if_it_has_come() -> None:
    told, come = threading.Event(), threading.Event()

    def late(sock: socket.socket, request: Request) -> None:
        sock.sendall(b"HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\n")
        told.wait(20)
        sock.sendall(b"not there")
        come.set()

    with site_of(late=late) as site, GuardedClient(config(site)) as guard:
        with guard.open(parse_target(site.url("/late")), Deadline(5)):
            told.set()
            assert come.wait(20)
        assert ask(guard, site.url("/good")) == GOOD
        assert site.over == [0, 0]


def test_a_body_that_is_not_wanted_is_not_read_to_keep_a_connection() -> None:
    with site_of(mine=answer(200, bytes(60_000))) as site, GuardedClient(config(site)) as guard:
        with guard.open(parse_target(site.url("/mine")), Deadline(5)):
            pass
        assert ask(guard, site.url("/good")) == GOOD
        assert site.over == [0, 1]


def test_a_prefix_that_is_not_all_ends_the_connection() -> None:
    with site_of(long=answer(200, bytes(200_000))) as site, GuardedClient(config(site)) as guard:
        for cap, over in ((300_000, [0, 0]), (1000, [0, 0, 0, 1])):
            with guard.open(parse_target(site.url("/long")), Deadline(5)) as response:
                assert response.read_prefix(cap) == bytes(min(cap, 200_000))
            assert ask(guard, site.url("/good")) == GOOD
            assert site.over == over


class TestClosedMeanwhile:
    @pytest.mark.parametrize("over_tls", [False, True])
    def test_a_connection_that_the_server_closed_costs_nothing(
        self, over_tls: bool, certificate: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "pem"))
        tls = server_tls(certificate) if over_tls else None
        with KeepingSite(fallback=then_close(answer(200, GOOD)), tls=tls) as site, GuardedClient(config(site)) as guard:
            for n in range(3):
                assert ask(guard, site.url("/")) == GOOD
                assert site.wait(lambda site: site.now == 0)
                assert site.over == [*range(n + 1)]

    @pytest.mark.parametrize("end", [hang_up, reset_now])
    @pytest.mark.parametrize("over_tls", [False, True])
    def test_one_that_ends_as_it_is_asked_is_replaced_once(
        self, end: Behaviour, over_tls: bool, certificate: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "pem"))
        pages = {"/once": in_turn(end, answer(200, b"ab")), "/twice": in_turn(end, end, answer(200, b"ab"))}
        tls = server_tls(certificate) if over_tls else None
        with KeepingSite(pages, fallback=answer(200, GOOD), tls=tls) as site, GuardedClient(config(site)) as guard:
            assert [ask(guard, site.url(path)) for path in ("/good", "/once")] == [GOOD, b"ab"]
            assert site.over == [0, 0, 1]
            assert ask(guard, site.url("/twice")) == "reset"
            assert site.over == [0, 0, 1, 1, 2]

    def test_it_is_one_request_of_the_unit(self, tmp_path: Path) -> None:
        pages = {f"/{n}.jpg": in_turn(hang_up, answer(200, picture())) for n in range(20)}
        with KeepingSite(pages) as site:
            results = fetch(site, tmp_path, *pages, per_host=1, max_host_failures=1)
            assert {result.reason for result in results.values()} == {None}

    @pytest.mark.parametrize("begun", [b"H", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na"])
    def test_an_answer_that_has_begun_is_not_asked_for_again(self, begun: bytes) -> None:
        def cut(sock: socket.socket, request: Request) -> None:
            sock.sendall(begun)
            reset_now(sock, request)

        with site_of(cut=cut) as site, GuardedClient(config(site)) as guard:
            assert ask(guard, site.url("/good")) == GOOD
            assert ask(guard, site.url("/cut")) in ("reset", "not_http", "incomplete_body")
            assert site.over == [0, 0]

    def test_both_tries_share_a_deadline(self) -> None:
        drip = raw(OK, *[b"X-A: b\r\n"] * 100, pause=0.05)
        with site_of(slow=in_turn(hang_up, drip)) as site, GuardedClient(config(site)) as guard:
            assert ask(guard, site.url("/good")) == GOOD
            assert ask(guard, site.url("/slow"), seconds=0.5) == "timeout"
            assert site.over == [0, 0, 1]

    def test_what_is_sent_goes_over_a_connection_of_its_own_and_once(self) -> None:
        with site_of(post=in_turn(answer(200, b"ab"), hang_up)) as site, GuardedClient(config(site)) as guard:
            target, sent = parse_target(site.url("/post")), Sent(b"x", {})
            assert ask(guard, site.url("/good")) == GOOD
            with guard.open(target, Deadline(5), sent=sent) as response:
                assert response.read_prefix(9) == b"ab"
            with pytest.raises(FetchError, match="reset"):
                guard.open(target, Deadline(5), sent=sent)
            assert ask(guard, site.url("/good")) == GOOD
            assert site.over == [0, 1, 2, 0]
            assert [request.headers.get("connection") for request in site.log] == [None, "close", "close", None]


class TestDeadlines:
    def test_each_request_has_its_own(self) -> None:
        drip = raw(OK, *[b"X-A: b\r\n"] * 100, pause=0.05)
        with site_of(drip=drip) as site, GuardedClient(config(site)) as guard:
            first = Deadline(5)
            with guard.open(parse_target(site.url("/good")), first) as response:
                assert response.read_prefix(CAP) == GOOD
            first.extend(-10)  # it is over
            assert ask(guard, site.url("/good")) == GOOD
            assert ask(guard, site.url("/drip"), seconds=0.5) == "timeout"
            assert ask(guard, site.url("/good")) == GOOD
            assert site.over == [0, 0, 0, 1]

    def test_each_request_over_tls_too(self, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "pem"))
        drip = raw(OK, *[b"X-A: b\r\n"] * 100, pause=0.05)
        good, tls = answer(200, GOOD), server_tls(certificate)
        with KeepingSite({"/drip": drip}, fallback=good, tls=tls) as site, GuardedClient(config(site)) as guard:
            assert ask(guard, site.url("/good")) == GOOD
            assert ask(guard, site.url("/drip"), seconds=1.0) == "timeout"
            assert site.over == [0, 0]


class TestGuard:
    def test_a_kept_connection_to_an_address_that_the_name_has_no_more_is_not_used(self, resolver: Answers) -> None:
        with site_of() as site:
            resolver += [["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1"]]
            url = f"http://rebind.example:{site.port}/"
            with GuardedClient(config(site, allow_private=("127.0.0.0/8",))) as guard:
                for said in (GOOD, GOOD, "refused", "private_address"):
                    assert ask(guard, url) == said
                    if len(site.log) == 2:
                        guard._resolver._known.clear()  # as if a name were looked up again
            assert len(site.log) == 2

    def test_a_connection_is_for_the_host_that_it_was_made_for(self, resolver: Answers) -> None:
        with site_of() as site, GuardedClient(config(site, allow_private=("127.0.0.1/32",))) as guard:
            resolver += [["127.0.0.1"], ["127.0.0.1"]]
            for name in ("a.example", "b.example", "a.example"):
                assert ask(guard, f"http://{name}:{site.port}/") == GOOD
            assert site.over == [0, 1, 0]

    def test_through_a_proxy_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with site_of() as proxy, GuardedClient(config(proxy)):
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
            with GuardedClient(config(proxy)) as guard:
                for name in ("a.example", "b.example", "a.example"):
                    assert ask(guard, f"http://{name}/") == GOOD
                assert ask(guard, "http://10.0.0.1/") == "private_address"
            assert proxy.over == [0, 1, 0]

    def test_a_tunnel_is_used_again(self, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "pem"))
        with KeepingSite(fallback=answer(200, GOOD), tls=server_tls(certificate)) as site, Site() as proxy:
            proxy.fallback = tunnel
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
            with GuardedClient(config(site)) as guard:
                assert [ask(guard, site.url("/")) for _ in range(3)] == [GOOD] * 3
            assert site.over == [0, 0, 0]
            assert [request.path for request in proxy.log] == [f"127.0.0.1:{site.port}"]


class TestBounds:
    def test_two_ports_of_a_host_share_what_it_may_have(self) -> None:
        with site_of() as one, site_of() as other:
            settings = config(one, allow_private=("127.0.0.1/32",), per_host=1)
            with GuardedClient(settings) as guard:
                for _ in range(2):
                    assert ask(guard, one.url("/")) == GOOD
                    assert other.wait(lambda site: site.now == 0)
                    assert ask(guard, other.url("/")) == GOOD
                    assert one.wait(lambda site: site.now == 0)
            assert (one.most, other.most) == (1, 1)
        with site_of() as one, site_of() as other:
            with GuardedClient(settings.model_copy(update={"per_host": 2})) as guard:
                for _ in range(3):
                    assert [ask(guard, site.url("/")) for site in (one, other)] == [GOOD, GOOD]
            assert (one.over, other.over) == ([0] * 3, [0] * 3)

    def test_few_wait_at_a_time_the_latest(self, resolver: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pool, "MAX_IDLE", 3)
        with site_of() as site, GuardedClient(config(site, allow_private=("127.0.0.1/32",))) as guard:
            resolver += [["127.0.0.1"]] * 8
            for n in (*range(8), 7, 6, 5, 0):
                assert ask(guard, f"http://n{n}.example:{site.port}/") == GOOD
            assert site.over == [*range(8), 7, 6, 5, 8]
            assert site.wait(lambda site: site.now == 3)

    def test_none_waits_for_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with site_of() as site, GuardedClient(config(site)) as guard:
            assert [ask(guard, site.url("/")) for _ in range(2)] == [GOOD, GOOD]
            monkeypatch.setattr(pool, "IDLE_SECONDS", -1.0)
            assert [ask(guard, site.url("/")) for _ in range(2)] == [GOOD, GOOD]
            assert site.over == [0, 0, 1, 2]
            assert site.wait(lambda site: site.now == 0)

    def test_all_are_closed_at_the_end_also_of_a_unit_that_failed(self, tmp_path: Path) -> None:
        class Full(Exception):
            pass

        def fail(*_: object) -> None:
            raise Full

        with KeepingSite({"/a.jpg": answer(200, picture())}) as site, pytest.MonkeyPatch.context() as patch:
            patch.setattr("obelics_pipeline.stages.fetch.bucket._Bucket._finish", fail)
            with pytest.raises(Full):
                fetch(site, tmp_path, "/a.jpg")
            assert site.wait(lambda site: site.now == 0)
            assert site.connections == 1

    def test_a_second_end_of_a_response_gives_nothing_back_twice(self) -> None:
        with site_of() as site, GuardedClient(config(site)) as guard:
            response = guard.open(parse_target(site.url("/")), Deadline(5))
            response.read_prefix(CAP)
            response.close()
            response.close()
            held = [guard.open(parse_target(site.url("/")), Deadline(5)) for _ in range(2)]
            assert site.over == [0, 0, 1]
            for response in held:
                response.close()
