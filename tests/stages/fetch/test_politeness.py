"""Turns by host: so many at once, so long between, and nobody waits for another host."""

import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.stages.fetch.bucket import BACKOFF_SECONDS, fetch_bucket
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.politeness import Task, Turns
from tests.stages.fetch.site import Site, answer, config, fetch, in_turn, picture, redirect, slow


def test_no_host_has_more_than_its_share_at_once_and_all_threads_are_used() -> None:
    active: Counter[str] = Counter()
    most: Counter[str] = Counter()
    lock = threading.Lock()

    def run(host: str) -> list[Task]:
        for name in (host, "all"):
            with lock:
                active[name] += 1
                most[name] = max(most[name], active[name])
        time.sleep(0.01)
        with lock:
            active[host] -= 1
            active["all"] -= 1
        return []

    hosts = [f"h{n % 5}" for n in range(100)]
    Turns(8, 2, lambda host: 0.0).run([Task(host, lambda host=host: run(host)) for host in hosts])  # type: ignore[misc]
    assert all(most[host] <= 2 for host in hosts)
    assert 3 <= most["all"] <= 8


def test_a_slow_host_blocks_nobody_else() -> None:
    others_done = threading.Event()
    left = [40]

    def quick() -> list[Task]:
        left[0] -= 1
        if left[0] == 0:
            others_done.set()
        return []

    def waits() -> list[Task]:
        assert others_done.wait(30), "the slow host's tasks kept the others from running"
        return []

    tasks = [Task("slow", waits) for _ in range(10)] + [Task(f"h{n}", quick) for n in range(40)]
    Turns(3, 2, lambda host: 0.0).run(tasks)
    assert left[0] == 0


def test_a_host_that_must_wait_blocks_nobody_else() -> None:
    order: list[str] = []

    def note(name: str) -> list[Task]:
        order.append(name)
        return []

    tasks = [Task("late", lambda n=n: note(f"late{n}")) for n in range(3)]  # type: ignore[misc]
    tasks += [Task(f"h{n}", lambda n=n: note("other")) for n in range(20)]  # type: ignore[misc]
    Turns(1, 1, lambda host: 0.2 if host == "late" else 0.0).run(tasks)
    assert order.index("late1") >= 20
    assert [name for name in order if name.startswith("late")] == ["late0", "late1", "late2"]


def test_what_follows_from_a_task_is_run_too_and_the_urgent_first() -> None:
    order: list[str] = []

    def run(name: str, *then: Task) -> list[Task]:
        order.append(name)
        return list(then)

    follow = (
        Task("h", lambda: run("urgent"), urgent=True),
        Task("h", lambda: run("last")),
        Task("i", lambda: run("else")),
    )
    Turns(1, 1, lambda host: 0.0).run([Task("h", lambda: run("first", *follow)), Task("h", lambda: run("second"))])
    assert sorted(order) == ["else", "first", "last", "second", "urgent"]
    assert [name for name in order if name != "else"] == ["first", "urgent", "second", "last"]


def test_an_exception_stops_all_and_is_raised() -> None:
    ran: list[int] = []

    def full() -> list[Task]:
        raise OSError(28, "No space left on device")

    tasks = [Task("a", full), *[Task("a", lambda n=n: ran.append(n) or []) for n in range(50)]]  # type: ignore[misc,func-returns-value]
    with pytest.raises(OSError, match="No space"):
        Turns(1, 1, lambda host: 0.0).run(tasks)
    assert len(ran) <= 1


def test_a_pause_holds_for_its_host_alone() -> None:
    order: list[str] = []
    turns = Turns(1, 1, lambda host: 0.0)

    def run(name: str, pause: float = 0.0) -> list[Task]:
        order.append(name)
        turns.pause("a", pause)
        return []

    turns.run([Task("a", lambda: run("a1", 0.2)), Task("a", lambda: run("a2")), *[Task("b", lambda: run("b"))] * 10])
    assert order[-1] == "a2"


def test_the_servers_log_shows_that_the_limits_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over redirects and robots.txt, too: 120 images of 6 hosts, a sixth of them redirected to one other host."""
    image = slow(0.005, answer(200, picture()))
    with Site(fallback=image) as site:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{site.port}")
        urls = [f"http://h{n % 6}.example/{n}" for n in range(120)]
        for url in urls[::6]:
            site.pages[url] = redirect("http://cdn.example" + url[url.rindex("/") :])
        results = fetch_bucket(urls, config(site, per_host=2, threads=16), ImageStore(tmp_path), {}, tmp_path / "j")
        assert all(result.status == "ok" for result in results)
        assert max(site.most_at_once.values()) <= 2
        requests = Counter(request.path for request in site.log)
        assert set(requests.values()) == {1}
        assert len(requests) == 120 + 20 + 7  # images, redirects, robots.txt


def test_the_servers_log_shows_the_delay_between_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"http://a.example/robots.txt": answer(200, b"User-agent: *\nCrawl-delay: 0.4")}
    with Site(pages, fallback=answer(200, picture())) as site:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{site.port}")
        urls = [f"http://{host}.example/{n}" for host in "ab" for n in range(4)]
        settings = config(site, per_host=4, host_delay_seconds=0.2)
        fetch_bucket(urls, settings, ImageStore(tmp_path), {}, tmp_path / "j")
        for host, delay in (("a.example", 0.4), ("b.example", 0.2)):
            starts = [request.start for request in site.log if request.host == host]
            # half: a loaded machine may log one request late, and the next one in time
            assert min(later - earlier for earlier, later in pairwise(starts)) >= delay / 2


def test_a_server_that_asks_for_patience_gets_it(tmp_path: Path) -> None:
    patient = in_turn(answer(429, Retry_After="1"), answer(200, picture()))
    endless = answer(503, Retry_After="86400")
    with Site({"/a": patient, "/b": endless}) as site:
        urls = [site.url("/a"), site.url("/b")]
        results = fetch_bucket(urls, config(site, retries=1), ImageStore(tmp_path), {}, tmp_path / "j")
        assert [result.reason for result in results] == [None, "http_503"]
        assert (site.asked("/a"), site.asked("/b")) == (2, 1)
        first, second = (request.start for request in site.log if request.path == "/a")
        assert second - first >= 0.5


def pauses_of(site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> list[float]:
    """The seconds that a host was let rest while `/a` of it was asked for; nobody waits for them."""
    asked: list[float] = []
    monkeypatch.setattr("obelics_pipeline.stages.fetch.bucket.BACKOFF_SECONDS", BACKOFF_SECONDS)
    monkeypatch.setattr(Turns, "pause", lambda self, host, seconds: asked.append(seconds))
    fetch(site, folder, "/a", **changes)
    return asked


def test_a_host_that_fails_rests_twice_as_long_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Site({"/a": answer(500)}) as site:
        assert pauses_of(site, tmp_path, monkeypatch, retries=4) == [1.0, 2.0, 4.0, 8.0]
        assert site.asked("/a") == 5


def test_a_rest_longer_than_the_longest_crawl_delay_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site({"/a": answer(500)}) as site:
        assert pauses_of(site, tmp_path, monkeypatch, retries=9, max_crawl_delay_seconds=4) == [1.0, 2.0, 4.0]


def test_a_host_rests_as_long_as_it_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    behaviour = in_turn(answer(500), answer(429, Retry_After="7"), answer(429, Retry_After="soon"), answer(404))
    with Site({"/a": behaviour}) as site:
        assert pauses_of(site, tmp_path, monkeypatch, retries=9) == [1.0, 7.0, 4.0]


def test_a_host_rests_before_its_robots_txt_is_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Site({"/robots.txt": answer(503)}) as site:
        assert pauses_of(site, tmp_path, monkeypatch, retries=2) == [1.0, 1.0]
        assert (site.asked("/robots.txt"), site.asked("/a")) == (3, 0)
