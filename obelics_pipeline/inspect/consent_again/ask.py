"""Asking addresses politely: the files of their hosts first, then their own headers, and the metas of pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.inspect.consent_again.answer import ALLOWED, Subject, answer_row
from obelics_pipeline.inspect.consent_again.metas import page_refusal
from obelics_pipeline.net.client import GuardedClient, Response
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError, Redirected
from obelics_pipeline.net.target import Target, join_location, parse_target
from obelics_pipeline.policy.opt_outs.tdm import POLICY, RESERVATION, page_tdm
from obelics_pipeline.stages.fetch.opt_out import opt_out_reason
from obelics_pipeline.stages.fetch.origins import Origins
from obelics_pipeline.stages.fetch.politeness import Task, Turns
from obelics_pipeline.stages.fetch.reason import TRY_AGAIN, is_server_error
from obelics_pipeline.stages.fetch.robots import Robots
from obelics_pipeline.stages.fetch.robots_observations import Observation
from obelics_pipeline.stages.fetch.rule_files import RuleFiles

PREFIX = 64 * 2**10  # bytes of a page that are read for its metas, which belong into its head
PAGE_DIRECTIVES = ("noai", "noimageai")  # in X-Robots-Tag and metas of a page; noindex is about search engines
Note = Callable[[dict[str, Any]], None]


def asking(config: FetchingConfig) -> FetchingConfig:
    """The manners of a run's fetcher, with everything heeded that a host can say."""
    return config.model_copy(update={"robots_txt": True, "ai_txt": True, "tdm": "file"})


class Asker:
    """Asks addresses, and gives each answer to `note` at once, from several threads.

    `tokens` are the names that a robots.txt must allow for a page, each of them. `files` keeps the hosts' files.
    """

    def __init__(self, config: FetchingConfig, tokens: Iterable[str], files: RuleFiles, note: Note) -> None:
        self._config, self._note = asking(config), note
        self._tokens = sorted({config.robots_token, *tokens})
        self._guard = GuardedClient(self._config)
        self._turns = Turns(config.threads, config.per_host, lambda host: self._origins.delay(host))
        self._origins = Origins(self._config, self._guard, self._turns.pause, self._observe, files)
        self._observed: dict[str, Observation] = {}
        self._failures = Counter[str]()  # in a row, by host

    def ask(self, subjects: Iterable[Subject]) -> None:
        """Ask all of them, each once."""
        with self._guard:
            self._turns.run(task for subject in subjects for task in self._first(subject))

    def _first(self, subject: Subject) -> list[Task]:
        try:
            return self._at(subject, parse_target(subject.url), 0)
        except FetchError as error:
            return self._answer(subject, error.reason)

    def _at(self, subject: Subject, target: Target, hops: int) -> list[Task]:
        return self._origins.ask(target, lambda robots: self._unless_forbidden(subject, target, hops, robots))

    def _unless_forbidden(self, subject: Subject, target: Target, hops: int, robots: Robots) -> list[Task]:
        try:
            for token in self._tokens if subject.page else [self._config.robots_token]:
                robots.check(target, token)
        except FetchError as error:
            return self._answer(subject, error.reason, target)
        return [Task(target.host, partial(self._request, subject, target, hops, 0))]

    def _request(self, subject: Subject, target: Target, hops: int, tries: int) -> list[Task]:
        if self._failures[target.host] >= self._config.max_host_failures:
            return self._answer(subject, "host_down", target)
        try:
            with self._guard.open(target, Deadline(self._config.timeout_seconds)) as answer:
                said = self._said(subject, answer)
        except Redirected as redirect:
            with suppress(FetchError):
                if hops < self._config.max_redirects:
                    return self._at(subject, join_location(target, redirect.location), hops + 1)
            return self._answer(subject, "too_many_redirects", target)
        except FetchError as error:
            self._failures[target.host] += error.reason in ("timeout", "refused", "dns")
            if tries < self._config.retries and (error.reason in TRY_AGAIN or is_server_error(error.reason)):
                self._turns.pause(target.host, error.retry_after or 1.0)
                return [Task(target.host, partial(self._request, subject, target, hops, tries + 1))]
            return self._answer(subject, error.reason, target)
        self._failures[target.host] = 0
        return self._answer(subject, said, target)

    def _said(self, subject: Subject, answer: Response) -> str:
        """The word of an answer. Raises Redirected, FetchError."""
        tags = answer.headers.get_all("X-Robots-Tag", [])
        directives = PAGE_DIRECTIVES if subject.page else self._config.opt_out_directives
        reason = opt_out_reason(tags, self._config.robots_token, directives)
        headers = [(name, answer.headers.get(name, "")) for name in (RESERVATION, POLICY)]
        if answer.status < 400:
            if reason is not None:
                return reason
            if page_tdm({}, headers).reserved and not subject.page:  # a page's own meta goes before its header
                return "tdm_reserved"
        answer.demand_body()
        if not subject.page or "html" not in answer.headers.get("Content-Type", "html"):
            return "tdm_reserved" if page_tdm({}, headers).reserved else ALLOWED
        try:
            head = answer.read_prefix(PREFIX)
        except FetchError:  # what came of its headers counts all the same
            head = b""
        return page_refusal(head, headers) or ALLOWED

    def _observe(self, observation: Observation) -> None:
        self._observed[str(observation["origin"])] = observation

    def _answer(self, subject: Subject, said: str, target: Target | None = None) -> list[Task]:
        origin: Observation = {}
        if target is not None:
            host = f"[{target.host}]" if ":" in target.host else target.host
            origin = self._observed.get(f"{target.scheme}://{host}:{target.port}/", {})
        self._note(answer_row(subject, said, datetime.now(UTC).date().isoformat(), origin))
        return []
