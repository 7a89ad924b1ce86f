"""The robots.txt of every origin of a unit, fetched once before any other request to the origin.

The ai.txt and tdmrep.json that the config asks for follow, if robots.txt allows anything.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.client import GuardedClient
from obelics_pipeline.net.failure import FetchError, Redirected
from obelics_pipeline.net.target import Target, join_location, parse_target
from obelics_pipeline.stages.fetch.politeness import Task
from obelics_pipeline.stages.fetch.robots import (
    AI_FILE,
    ALLOW_ALL,
    MAX_ROBOTS_REDIRECTS,
    TDM_FILE,
    Robots,
    fetch_file,
    fetch_robots,
    robots_target,
    robots_without_answer,
    with_file,
)
from obelics_pipeline.stages.fetch.robots_observations import Observation, observed_now
from obelics_pipeline.stages.fetch.rule_files import RuleFiles

RETRY_SECONDS = 1.0  # a host rests so long before its robots.txt is asked for again

Origin = tuple[str, str, int]
Waiter = Callable[[Robots], list[Task]]


class Origins:
    """The rules of each origin. A waiting task is called once its origin is known, and takes no turn of its host until
    then.

    `pause(host, seconds)` lets a host rest. `note` gets each observation before any task acts on it. What the origins
    say is kept in `files`.
    """

    def __init__(
        self,
        config: FetchingConfig,
        guard: GuardedClient,
        pause: Callable[[str, float], None],
        note: Callable[[Observation], None],
        files: RuleFiles,
    ) -> None:
        self._config, self._guard, self._pause, self._note = config, guard, pause, note
        self._rules = files
        self._known: dict[Origin, Robots] = {}
        self._files = ((AI_FILE,) if config.ai_txt else ()) + ((TDM_FILE,) if config.tdm == "file" else ())
        self._waiting: dict[Origin, list[Waiter]] = {}
        self._delays: defaultdict[str, float] = defaultdict(lambda: config.host_delay_seconds)
        self._lock = threading.Lock()

    def delay(self, host: str) -> float:
        """Seconds between two starts for this host: the config's, or a longer Crawl-delay."""
        return self._delays[host]

    def ask(self, target: Target, waiter: Waiter) -> list[Task]:
        """Call `waiter` with what the target's origin says; the tasks that follow, now or from the robots.txt."""
        if not self._config.robots_txt and not self._files:
            return waiter(ALLOW_ALL)
        with self._lock:
            robots = self._known.get(target.origin)
            if robots is None:
                first = target.origin not in self._waiting
                self._waiting.setdefault(target.origin, []).append(waiter)
        if robots is not None:
            return waiter(robots)
        if not first:
            return []
        if not self._config.robots_txt:
            return self._next_file(target.origin, robots_target(target), ALLOW_ALL, self._files)
        return [self._task(target.origin, robots_target(target), 0)]

    def _task(self, origin: Origin, place: Target, hops: int, tries: int = 0) -> Task:
        return Task(place.host, lambda: self._fetch(origin, place, hops, tries), urgent=True)

    def _fetch(self, origin: Origin, place: Target, hops: int, tries: int) -> list[Task]:
        try:
            robots = fetch_robots(self._guard, place, self._config, self._rules)
        except Redirected as redirect:
            return self._moved(origin, place, hops, redirect.location)
        if robots.refusal == "robots_unavailable" and tries < self._config.retries:
            self._pause(place.host, RETRY_SECONDS)
            return [self._task(origin, place, hops, tries + 1)]  # all images of the host hang on it
        if hops and robots.refusal is not None and robots.rules is None:
            robots = robots_without_answer("timeout")  # it is the redirect's target that is down, not the origin
        return self._observed(origin, robots)

    def _moved(self, origin: Origin, place: Target, hops: int, location: str) -> list[Task]:
        if hops >= MAX_ROBOTS_REDIRECTS:  # RFC 9309 2.3.1.2: then it may be taken as unavailable
            return self._observed(origin, ALLOW_ALL)
        try:
            return [self._task(origin, join_location(place, location), hops + 1)]
        except FetchError:
            return self._observed(origin, ALLOW_ALL)

    def _observed(self, origin: Origin, robots: Robots) -> list[Task]:
        """The robots.txt is known; the other files follow, if anything may be asked at all."""
        if robots.crawl_delay:
            self._pause(origin[1], robots.crawl_delay)  # the robots.txt was a request, too
        if robots.refusal is not None:
            return self._learn(origin, robots)
        scheme, host, port = origin
        return self._next_file(origin, parse_target(_url_of(scheme, host, port)), robots, self._files)

    def _next_file(self, origin: Origin, at: Target, robots: Robots, files: Sequence[str]) -> list[Task]:
        if not files:
            return self._learn(origin, robots)
        place = robots_target(at, files[0])
        return [Task(place.host, lambda: self._read_file(origin, at, place, robots, files, 0), urgent=True)]

    def _read_file(
        self, origin: Origin, at: Target, place: Target, robots: Robots, files: Sequence[str], hops: int
    ) -> list[Task]:
        accept = "application/json" if files[0] == TDM_FILE else "text/plain"
        try:
            content = fetch_file(self._guard, place, self._config, accept)
        except Redirected as redirect:
            content = None
            with suppress(FetchError):
                moved = join_location(place, redirect.location)
                if hops < MAX_ROBOTS_REDIRECTS:
                    again = partial(self._read_file, origin, at, moved, robots, files, hops + 1)
                    return [Task(moved.host, again, urgent=True)]
        if robots.crawl_delay:
            self._pause(place.host, robots.crawl_delay)
        robots = with_file(robots, files[0], content, self._config, self._rules)
        return self._next_file(origin, at, robots, files[1:])

    def _learn(self, origin: Origin, robots: Robots) -> list[Task]:
        host = origin[1]
        self._note(observed_now(_url_of(*origin), robots, self._config))
        with self._lock:
            self._known[origin] = robots
            self._delays[host] = max(self._delays[host], robots.crawl_delay)
            waiters = self._waiting.pop(origin)
        with self._rules.held():
            return [task for waiter in waiters for task in waiter(robots)]


def _url_of(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://[{host}]:{port}/" if ":" in host else f"{scheme}://{host}:{port}/"
