"""A replacement of urllib's urlopen for img2dataset's downloader: one guarded request, and its answer or failure."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.net.body import BodyBudget
from obelics_pipeline.net.client import GuardedClient, Response
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import Target
from obelics_pipeline.policy.opt_outs.tdm import POLICY, RESERVATION, page_tdm
from obelics_pipeline.stages.fetch.opt_out import opt_out_reason

if TYPE_CHECKING:
    from email.message import Message


class Opening:
    """Stands for `urlopen` of one request. `error` says what was raised: the downloader gives its text only."""

    def __init__(
        self, guard: GuardedClient, target: Target, deadline: Deadline, config: FetchingConfig, budget: BodyBudget
    ) -> None:
        self._guard, self._target, self._deadline = guard, target, deadline
        self._config, self._budget = config, budget
        self._response: Response | None = None
        self._error: FetchError | None = None

    @property
    def error(self) -> FetchError | None:
        """A fresh copy of the error that was raised, to raise it again."""
        return self._error.bare() if self._error is not None else None

    def __call__(self, _request: Any, timeout: float | None = None) -> Opening:
        """Send the request and look at the headers: a forbidden or useless answer's body is never read."""
        try:
            self._response = self._guard.open(self._target, self._deadline, accept="image/*,*/*;q=0.5")
            self._look_at(self._response)
        except FetchError as error:
            self._error = error.bare()
            self._close()
            raise
        return self

    @property
    def headers(self) -> Message:
        """The answer's headers."""
        assert self._response is not None
        return self._response.headers

    def read(self) -> bytes:
        """The whole body, within the caps. Raises FetchError."""
        assert self._response is not None
        try:
            return self._response.read_body(self._config.max_bytes, self._budget)
        except FetchError as error:
            self._error = error.bare()
            raise

    def _look_at(self, response: Response) -> None:
        tags = response.headers.get_all("X-Robots-Tag", [])
        reason = opt_out_reason(tags, self._config.robots_token, self._config.opt_out_directives)
        if reason is not None and response.status < 400:
            raise FetchError(reason)
        said = [(name, response.headers.get(name, "")) for name in (RESERVATION, POLICY)]
        if self._config.tdm != "ignore" and response.status < 400 and page_tdm({}, said).reserved:
            raise FetchError("tdm_reserved")
        response.demand_body()

    def _close(self) -> None:
        if self._response is not None:
            self._response.close()

    def __enter__(self) -> Opening:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()
