"""One unit of fetching: the image URLs of a bucket of hosts, each fetched once."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.config.image_safety import ImageSafetyConfig
from obelics_pipeline.net.body import BodyBudget
from obelics_pipeline.net.client import GuardedClient
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError, Redirected
from obelics_pipeline.net.target import Target, join_location, parse_target
from obelics_pipeline.policy.forgotten import FORGOTTEN
from obelics_pipeline.stages.fetch.carried import is_carried
from obelics_pipeline.stages.fetch.download import download
from obelics_pipeline.stages.fetch.health import HostHealth
from obelics_pipeline.stages.fetch.host_times import HostTimes
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.ingest import Ingest
from obelics_pipeline.stages.fetch.journal import Journal
from obelics_pipeline.stages.fetch.origins import Origins
from obelics_pipeline.stages.fetch.politeness import Task, Turns
from obelics_pipeline.stages.fetch.reason import NOT_IN_ROW, try_again
from obelics_pipeline.stages.fetch.result import FetchResult
from obelics_pipeline.stages.fetch.robots import Robots
from obelics_pipeline.stages.fetch.rule_files import RuleFiles

ReadCarried = Callable[[Sequence[str]], Iterator[tuple[str, bytes]]]  # those that are found, with their bytes
# The results of those images that are taken from elsewhere; the others are fetched.
TakeHeld = Callable[[Sequence[str], FetchingConfig, Ingest, Journal, Callable[[], float]], Mapping[str, FetchResult]]

NEVER = Deadline(math.inf)
BACKOFF_SECONDS = 1.0  # a host rests so long before it is asked again for what it failed to give; doubled each time


def fetch_bucket(
    urls: Sequence[str],
    config: FetchingConfig,
    store: ImageStore,
    previous: Mapping[str, FetchResult],
    journal: Path,
    ingest: Ingest | None = None,
    again: Collection[str] = (),
    carried: ReadCarried | None = None,
    held: TakeHeld | None = None,
    until: Deadline = NEVER,
    times: HostTimes | None = None,
) -> list[FetchResult]:
    """Fetch image URLs into the store; a result per distinct URL, sorted by URL.

    After `until` no request is started, and no image is judged: URLs without a result are left out. That is not before
    there is one new result, so that who calls this again and again comes to an end.

    `carried` gives the bytes of images that came with rows (see `is_carried`): they are judged as fetched ones are.
    What `held` takes is not fetched.

    URLs in `previous` are not fetched again, unless their image is gone from the store. Those that `journal` has from
    an earlier, killed try are not fetched either. Those in `again` were stored under other rules of `ingest`: their
    bytes are judged, and changed, by the present ones, and asked for again where they are gone. The caller removes the
    journal once the results are committed; all images named are on the disk by then. What the origins that were asked
    said is in it, too. What `ingest` knows to be forgotten is not asked for, wherever a redirect leads, and such bytes
    are not kept. `times` learns how long each host took. Raises OSError where the disk is full.
    """
    wanted = sorted(set(urls))
    ingest = ingest or Ingest(config, ImageSafetyConfig(), store)
    results = {url: previous[url] for url in wanted if url in previous and _has_image(previous[url], store)}
    with Journal(journal) as notes:

        def left() -> float:
            return until.left() if notes.grown else math.inf

        noted = notes.read(store)
        for url in sorted(results.keys() & set(again)):
            known = results.pop(url)
            anew = noted.get(url) or (_again(known, ingest) if left() else None)
            if anew is not None:
                results[url] = anew
                notes.add(anew)
        results |= {url: noted[url] for url in wanted if url in noted and url not in results}
        missing = [url for url in wanted if url not in results]
        results |= _take([url for url in missing if is_carried(url)], carried, config, ingest, notes, left)
        missing = [url for url in missing if not is_carried(url)]
        if held is not None:
            results |= held(missing, config, ingest, notes, left)
            missing = [url for url in missing if url not in results]
        if missing and left():
            with TemporaryFile() as rules:
                bucket = _Bucket(config, ingest, notes, RuleFiles(rules), times or HostTimes(), left)
                results |= bucket.fetch(missing)
    store.sync(result.sha256 for result in results.values() if result.sha256 is not None)
    return [results[url] for url in wanted if url in results]


def _take(
    keys: Sequence[str],
    carried: ReadCarried | None,
    config: FetchingConfig,
    ingest: Ingest,
    notes: Journal,
    left: Callable[[], float],
) -> dict[str, FetchResult]:
    """The results of images that came with rows; those that are not there any more fail."""
    results: dict[str, FetchResult] = {}
    for key, content in carried(keys) if keys and carried is not None else ():
        if not left():
            return results
        try:
            if len(content) > config.max_bytes:
                raise FetchError("too_large")
            results[key] = replace(ingest.keep(content, [key], ""), url=key)
        except FetchError as error:
            results[key] = FetchResult.without_image(key, error.reason)
        notes.add(results[key])
    return results | {key: FetchResult.without_image(key, NOT_IN_ROW) for key in keys if key not in results}


def _has_image(result: FetchResult, store: ImageStore) -> bool:
    return result.sha256 is None or store.has(result.sha256)


def _again(result: FetchResult, ingest: Ingest) -> FetchResult | None:
    """Judge a stored image by the present rules. None if its bytes are missing."""
    try:
        return ingest.keep_again(result)
    except FetchError as error:
        return FetchResult.without_image(result.url, error.reason)
    except (FileNotFoundError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class _Visit:
    """One image on its way, perhaps over redirects. `urls` are its spellings, `start` where every try begins."""

    urls: tuple[str, ...]
    start: Target
    target: Target
    seconds: float  # left of the deadline of this try
    hops: int = 0
    tries: int = 0


class _Bucket:
    def __init__(
        self,
        config: FetchingConfig,
        ingest: Ingest,
        notes: Journal,
        files: RuleFiles,
        times: HostTimes,
        left: Callable[[], float],
    ) -> None:
        self._config, self._ingest, self._notes, self._forgotten = config, ingest, notes, ingest.forgotten
        self._times = times
        self._guard = GuardedClient(config)
        self._health = HostHealth(config.max_host_failures)
        self._turns = Turns(config.threads, config.per_host, self._delay, left)
        self._origins = Origins(config, self._guard, self._turns.pause, notes.observe, files)
        self._budget = BodyBudget(config.max_bytes_in_flight, config.threads, config.max_bytes)
        self._results: dict[str, FetchResult] = {}
        self._lock = threading.Lock()

    def fetch(self, urls: Sequence[str]) -> dict[str, FetchResult]:
        tasks = [task for visit in self._visits(urls) for task in self._admit(visit)]
        with self._guard:
            self._turns.run(tasks)
        return self._results

    def _visits(self, urls: Sequence[str]) -> list[_Visit]:
        """A visit per place: spellings that differ in nothing that is sent are one."""
        places: dict[str, list[str]] = {}
        for url in urls:
            try:
                places.setdefault(parse_target(url).url, []).append(url)
            except FetchError as error:
                self._finish((url,), partial(FetchResult.without_image, reason=error.reason))
        targets = {place: parse_target(place) for place in places}
        seconds = self._config.timeout_seconds
        return [_Visit(tuple(places[place]), target, target, seconds) for place, target in targets.items()]

    def _delay(self, host: str) -> float:
        return 0.0 if self._health.is_down(host) else self._origins.delay(host)

    def _admit(self, visit: _Visit) -> list[Task]:
        """The tasks of a visit at its target, once the robots.txt there is known and allows it."""
        if self._forgotten is not None and self._forgotten.url(visit.target.url):
            return self._give_up(visit, FORGOTTEN)

        def known(robots: Robots) -> list[Task]:
            try:
                robots.check(visit.target, self._config.robots_token)
            except FetchError as error:
                return self._give_up(visit, error.reason)
            return [Task(visit.target.host, lambda: self._run(visit), urgent=visit.hops > 0)]

        return self._origins.ask(visit.target, known)

    def _run(self, visit: _Visit) -> list[Task]:
        """One request; what follows from it."""
        if self._health.is_down(visit.target.host):
            return self._give_up(visit, "host_down")
        deadline = Deadline(visit.seconds)
        with self._budget.request():
            try:
                result = self._ingest.keep(self._download(visit.target, deadline), visit.urls, visit.target.url)
            except Redirected as redirect:
                self._health.note(visit.target.host, None)
                return self._follow(visit, redirect.location, deadline.left())
            except FetchError as error:
                self._health.note(visit.target.host, error.reason)
                return self._failed(visit, error)
        self._health.note(visit.target.host, None)
        return self._finish(visit.urls, lambda url: replace(result, url=url))

    def _download(self, target: Target, deadline: Deadline) -> bytes:
        with self._times.request(target.host):
            return download(self._guard, target, deadline, self._config, self._budget)

    def _follow(self, visit: _Visit, location: str, seconds: float) -> list[Task]:
        if visit.hops >= self._config.max_redirects:
            return self._give_up(visit, "too_many_redirects")
        try:
            target = join_location(visit.target, location)
        except FetchError as error:
            return self._give_up(visit, error.reason)
        return self._admit(replace(visit, target=target, seconds=seconds, hops=visit.hops + 1))

    def _failed(self, visit: _Visit, error: FetchError) -> list[Task]:
        """Another try from the start, where there is one left and sense in it."""
        pause = error.retry_after if error.retry_after is not None else BACKOFF_SECONDS * 2**visit.tries
        patient = pause <= self._config.max_crawl_delay_seconds
        if visit.tries >= self._config.retries or not try_again(error.reason) or not patient:
            return self._give_up(visit, error.reason)
        self._turns.pause(visit.target.host, pause)
        again = replace(visit, target=visit.start, seconds=self._config.timeout_seconds, hops=0, tries=visit.tries + 1)
        return self._admit(again)

    def _give_up(self, visit: _Visit, reason: str) -> list[Task]:
        return self._finish(visit.urls, partial(FetchResult.without_image, reason=reason))

    def _finish(self, urls: Sequence[str], result: Callable[[str], FetchResult]) -> list[Task]:
        for url in urls:
            row = result(url)
            self._notes.add(row)
            with self._lock:
                self._results[url] = row
        return []
