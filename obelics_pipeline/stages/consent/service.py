"""A client of an online opt-out service: asks in batches, with a bounded rate, size and number of retries.

The default form is Spawning's, as their package datadiligence uses it (github.com/Spawning-Inc/datadiligence,
rules/spawning.py): addresses one a line are posted as text/plain to https://opts-api.spawningaiapi.com/api/v2/query/urls/
with the header `Authorization: API <key>`, at most 10,000 at a time; the answer is JSON,
`{"urls": [{"url": ..., "optOut": true, "optIn": false}, ...]}`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from obelics_pipeline.core.config.consent import OptOutServiceConfig
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.net.client import GuardedClient, Sent
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.page_url import normalise
from obelics_pipeline.net.target import MAX_URL_LENGTH, parse_target
from obelics_pipeline.stages.fetch.reason import is_server_error, try_again

BAD_ANSWER = "bad_answer"  # the answer was not JSON of the expected form
UNASKED = "service_down"  # the service was not asked about these after it failed
TRIED = frozenset({"dns", "refused", "unreachable", "not_http", BAD_ANSWER, "too_large"})  # besides what a fetch tries
MAX_FAILURES = 3  # batches in a row that fail whole, after which the service is not asked again


class Service:
    """Asks an opt-out service about URLs. `sleep` and `now` (seconds) are the clock, for tests."""

    def __init__(
        self,
        config: OptOutServiceConfig,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises UserError if the key that the config names is not in the environment, or its URL is not http(s)."""
        self._config, self._sleep, self._now = config, sleep, now
        try:
            self._target = parse_target(config.url)
        except FetchError:
            raise UserError(f"consent.service.url: {config.url} is no http(s) address") from None
        manners = FetchingConfig(
            user_agent=config.user_agent, allow_private=config.allow_private, ports=(self._target.port,)
        )
        self._guard = GuardedClient(manners)
        self._headers = {"Content-Type": "text/plain" if config.body == "lines" else "application/json"}
        if config.key_variable is not None:
            self._headers["Authorization"] = f"API {_key(config.key_variable)}"
        self._next = 0.0  # no request before

    def ask(self, urls: Sequence[str]) -> Iterator[tuple[dict[str, bool], str | None]]:
        """Ask about URLs, a batch at a time. Yields whether each URL that the service knows is opted out.

        With each batch comes the reason why URLs of it have no answer; None if all have one. URLs that cannot be sent
        are in no batch.
        """
        sendable = [url for url in urls if _is_sendable(url)]
        failures = 0
        for start in range(0, len(sendable), self._config.batch):
            batch = sendable[start : start + self._config.batch]
            if failures >= MAX_FAILURES:
                yield {}, UNASKED
                continue
            found, reason = self._batch(batch)
            failures = 0 if found else failures + 1
            yield found, reason

    def _batch(self, batch: Sequence[str]) -> tuple[dict[str, bool], str | None]:
        """Ask about a batch, and again about the URLs without an answer."""
        found: dict[str, bool] = {}
        for tried in range(self._config.retries + 1):
            left = [url for url in batch if url not in found]
            try:
                found |= self._request(left)
                if len(found) == len(batch):
                    return found, None
                reason, pause = "no_answer", None
            except FetchError as error:
                reason, pause = error.reason, error.retry_after
                if not (try_again(reason) or is_server_error(reason) or reason in TRIED):
                    return found, reason
            if tried < self._config.retries:
                wait = pause if pause is not None else self._config.backoff_seconds * 2**tried
                self._sleep(min(wait, self._config.max_wait_seconds))
        return found, reason

    def _request(self, urls: Sequence[str]) -> dict[str, bool]:
        """One request. Raises FetchError."""
        self._take_turn()
        sent = Sent(_body(urls, self._config.body), self._headers)
        deadline = Deadline(self._config.timeout_seconds)
        with self._guard.open(self._target, deadline, "application/json", sent) as answer:
            answer.demand_body()
            content = answer.read_prefix(self._config.max_bytes + 1)
        if len(content) > self._config.max_bytes:
            raise FetchError("too_large")
        return read_answer(content, urls, self._config.answer == "listed")

    def _take_turn(self) -> None:
        wait = self._next - self._now()
        if wait > 0:
            self._sleep(wait)
        self._next = max(self._next, self._now()) + 1 / self._config.requests_per_second


def read_answer(content: bytes, urls: Sequence[str], listed: bool) -> dict[str, bool]:
    """Whether each URL is opted out by an answer of the service. Other URLs in the answer are ignored.

    A URL may come back in another spelling. If it is flagged both ways it is opted out. Raises FetchError(bad_answer)
    for an answer of another form.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise FetchError(BAD_ANSWER) from None
    rows = value.get("urls") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        raise FetchError(BAD_ANSWER)
    flags: dict[str, bool] = {}
    for row in rows:
        url, flag = (row, True) if listed and isinstance(row, str) else _flag(row)
        if url is not None and flag is not None:
            for name in {url, normalise(url)}:
                flags[name] = flags.get(name, False) or flag
    said = {url: flags.get(url, flags.get(normalise(url))) for url in urls}
    if listed:
        return {url: bool(flag) for url, flag in said.items()}
    return {url: flag for url, flag in said.items() if flag is not None}


def _flag(row: Any) -> tuple[str | None, bool | None]:
    if not isinstance(row, dict):
        return None, None
    url, flag = row.get("url"), row.get("optOut")
    return (url, flag) if isinstance(url, str) and isinstance(flag, bool) else (None, None)


def _body(urls: Sequence[str], form: str) -> bytes:
    text = "\n".join(urls) if form == "lines" else json.dumps({"urls": list(urls)})
    return text.encode("utf-8", "surrogatepass")


def _is_sendable(url: str) -> bool:
    """Whether a URL is printable, on one line and short enough to be sent."""
    return 0 < len(url) <= MAX_URL_LENGTH and url.isprintable()


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise UserError(f"consent.service.key_variable: {variable} is not set to a key in the environment; export it")
    return key
