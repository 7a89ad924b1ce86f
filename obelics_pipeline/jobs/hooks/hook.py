"""What a hook must do: say what it wants to hear of each event, and deliver it within a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from obelics_pipeline.jobs.events import Event

Message = dict[str, Any]


class Undelivered(Exception):
    """A message did not arrive; `reason` is a few words, the same for the same fault."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Told = Callable[[Event], Sequence[Message]]  # what is to be delivered of an event; each comes here, in its order


class Hook(Protocol):
    """One that hears of a run. `messages` is called by the driver, `deliver` by a thread of the hook's own."""

    name: str  # for people: its place in the config, and of a URL the host alone, for the rest may be secret
    seconds: float  # how long one message may take

    @property
    def messages(self) -> Told:
        """What makes messages of events."""
        ...

    def deliver(self, message: Message) -> None:
        """Deliver within `seconds`. Raises Undelivered."""
        ...

    def close(self) -> None:
        """End what it has started, at once; called once, by the driver."""
        ...
