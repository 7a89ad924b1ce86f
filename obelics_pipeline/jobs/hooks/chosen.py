"""The events that a hook asks for, as the log has them."""

from __future__ import annotations

from collections.abc import Sequence

from obelics_pipeline.jobs.events import Event
from obelics_pipeline.jobs.hooks.hook import Message


class Chosen:
    """Lets events of some names through, all where no name is given."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)

    def __call__(self, event: Event) -> Sequence[Message]:
        """The event, where it is asked for."""
        return [dict(event)] if not self._names or event["event"] in self._names else []
