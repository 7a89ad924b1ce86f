"""Never more bytes than the cap, on the wire or unpacked; and few large bodies at a time."""

import gzip
import threading
import zlib
from contextlib import ExitStack

import pytest

from obelics_pipeline.net.body import SMALL_BODY, BodyBudget
from obelics_pipeline.net.client import GuardedClient
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import parse_target
from tests.stages.fetch.site import Behaviour, Site, answer, config, raw


def body_of(behaviour: Behaviour, cap: int = 100_000) -> bytes:
    budget = BodyBudget(2**24, 1, cap)
    with Site({"/": behaviour}) as site:
        guard = GuardedClient(config(site))
        with guard.open(parse_target(site.url("/")), Deadline(10)) as response, budget.request():
            return response.read_body(cap, budget)


TEXT = bytes(range(256)) * 40


@pytest.mark.parametrize(
    "behaviour",
    [
        answer(200, TEXT),
        raw(b"HTTP/1.1 200 OK\r\n\r\n" + TEXT),
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % len(TEXT) + TEXT + b"\r\n0\r\n\r\n"),
        answer(200, gzip.compress(TEXT), Content_Encoding="GZip"),
        answer(200, gzip.compress(TEXT) + b"\0" * 100, Content_Encoding="x-gzip"),
        answer(200, zlib.compress(TEXT), Content_Encoding="deflate"),
        answer(200, TEXT, Content_Encoding="identity"),
    ],
    ids=["length", "no-length", "chunked", "gzip", "padded-gzip", "deflate", "identity"],
)
def test_a_body_arrives_whole_however_it_is_packed(behaviour: Behaviour) -> None:
    assert body_of(behaviour) == TEXT


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (answer(200, gzip.compress(bytes(50_000_000)), Content_Encoding="gzip"), "too_large"),
        (answer(200, gzip.compress(gzip.compress(TEXT)), Content_Encoding="gzip, gzip"), "bad_content_encoding"),
        (answer(200, gzip.compress(TEXT)[:-50], Content_Encoding="gzip"), "incomplete_body"),
        (answer(200, b"\x1f\x8b" + TEXT, Content_Encoding="gzip"), "bad_content_encoding"),
        (answer(200, bytes(100_001)), "too_large"),
        (raw(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(100_001)), "too_large"),
        (raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n" + bytes(200_000)), "too_large"),
    ],
)
def test_what_is_too_large_or_cut_has_its_reason(behaviour: Behaviour, reason: str) -> None:
    with pytest.raises(FetchError, match=reason):
        body_of(behaviour)


def test_the_cap_itself_is_allowed() -> None:
    assert len(body_of(answer(200, bytes(100_000)))) == 100_000


def test_large_bodies_wait_for_each_other_and_none_for_ever() -> None:
    budget = BodyBudget(total=4 * SMALL_BODY + 2 * 10**7, threads=4, cap=10**7)  # two large ones at a time
    large, most, lock = [0], [0], threading.Lock()
    done = []

    def read() -> None:
        for _ in range(20):
            with budget.request():
                for _ in range(3):
                    budget.grow(Deadline(1))
                with lock:
                    large[0] += 1
                    most[0] = max(most[0], large[0])
                with lock:
                    large[0] -= 1
        done.append(1)

    threads = [threading.Thread(target=read) for _ in range(8)]
    with ExitStack() as stack:
        for thread in threads:
            thread.start()
            stack.callback(thread.join)
    assert len(done) == 8
    assert most[0] <= 2


def test_waiting_for_our_own_memory_is_not_the_servers_fault() -> None:
    budget, deadline = BodyBudget(total=0, threads=1, cap=1), Deadline(0.2)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with budget.request():
            budget.grow(Deadline(1))
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    threading.Timer(0.5, release.set).start()
    with budget.request():
        budget.grow(deadline)
        assert deadline.left() > 0
    thread.join()


def test_a_bomb_is_unpacked_in_small_pieces() -> None:
    from obelics_pipeline.net.body import CHUNK, _Inflate

    bomb = gzip.compress(bytes(20_000_000))
    pieces = [len(piece) for piece in _Inflate().feed(bomb)]
    assert sum(pieces) == 20_000_000
    assert max(pieces) <= CHUNK
