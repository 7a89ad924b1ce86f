"""A server that gets events by POST, through the guarded client of the web, at the operator's own address."""

from __future__ import annotations

import json
from collections.abc import Sequence

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.jobs.hooks.hook import Message, Told, Undelivered
from obelics_pipeline.net.client import GuardedClient, Sent
from obelics_pipeline.net.deadline import Deadline
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import Target

MOST_READ = 4096  # bytes of an answer, so that a server can end its sentence: what it says is not used


class Post:
    """Sends each message as the JSON body of a request. An answer other than 2xx is a failure, a redirect too."""

    def __init__(
        self, name: str, target: Target, told: Told, seconds: float, allow_private: Sequence[str], key: str
    ) -> None:
        """`told` makes the messages; `key` is sent as a bearer's, unless it is empty."""
        self.name, self.seconds, self.messages = name, seconds, told
        self._target = target
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        manners = FetchingConfig(
            user_agent="obelics-pipeline", allow_private=tuple(allow_private), ports=(target.port,)
        )
        self._guard = GuardedClient(manners)

    def deliver(self, message: Message) -> None:
        """Send it. Raises Undelivered."""
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        try:
            sent = Sent(body, self._headers)
            with self._guard.open(self._target, Deadline(self.seconds), "application/json", sent) as answer:
                if not 200 <= answer.status < 300:
                    raise FetchError(f"http_{answer.status}")
                answer.read_prefix(MOST_READ)
        except FetchError as error:
            raise Undelivered(error.reason) from None

    def close(self) -> None:
        """A request ends by its own deadline."""
