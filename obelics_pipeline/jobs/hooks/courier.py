"""A thread that delivers the messages of one hook, in their order, while the run goes on."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque

from obelics_pipeline.core.counted import counted
from obelics_pipeline.jobs.events import Event
from obelics_pipeline.jobs.hooks.hook import Hook, Message, Undelivered

MOST_WAITING = 10_000  # messages, a few KB each; of a hook that cannot keep up the oldest are given up first
UNSENT = "not sent in time"


class Courier:
    """Takes events at once and delivers later. What is not delivered is counted, by its reason."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._waiting: deque[Message] = deque()
        self._changed = threading.Condition()
        self._ends = False
        self._taken, self._delivered, self._lost = 0, 0, Counter[str]()
        self._warned = False
        self._thread = threading.Thread(target=self._deliver_all, name=f"hook {hook.name}", daemon=True)
        self._thread.start()

    def take(self, event: Event) -> None:
        """Line up what the hook wants of an event."""
        messages = self._hook.messages(event)
        with self._changed:
            self._taken += len(messages)
            self._waiting.extend(messages)
            while len(self._waiting) > MOST_WAITING:
                self._waiting.popleft()
                self._lost[UNSENT] += 1
            self._changed.notify()

    def warning(self) -> str:
        """A line, once, when something has not been delivered; else empty."""
        with self._changed:
            if self._warned or not self._lost:
                return ""
            self._warned = True
            return f"warning: {self._hook.name}: an event was not delivered ({min(self._lost)}); the run goes on"

    def end(self) -> None:
        """Nothing more comes."""
        with self._changed:
            self._ends = True
            self._changed.notify()

    def finish(self, since: float) -> str:
        """Wait for what is still to be delivered, until the hook's seconds after `since`; how many were not, in a line.

        `since` is a time of `time.monotonic`. The line is empty where all were delivered.
        """
        self._thread.join(max(0.0, since + self._hook.seconds - time.monotonic()))
        with self._changed:
            self._waiting.clear()
            lost = self._lost + Counter({UNSENT: self._taken - self._delivered - self._lost.total()})
        if not lost:
            return ""
        why = ", ".join(f"{reason} {n:,}" for reason, n in lost.most_common())
        return f"{self._hook.name}: {lost.total():,} of {counted(self._taken, 'messages')} were not delivered ({why})"

    def close(self) -> None:
        """End what the hook has started."""
        self._hook.close()

    def _deliver_all(self) -> None:
        while (message := self._next()) is not None:
            reason = self._try(message)
            with self._changed:
                if reason:
                    self._lost[reason] += 1
                else:
                    self._delivered += 1

    def _try(self, message: Message) -> str:
        """Deliver a message; why that failed, empty where it did not."""
        try:
            self._hook.deliver(message)
        except Undelivered as error:
            return error.reason
        except Exception as error:  # whatever a hook does, the run goes on
            return type(error).__name__
        return ""

    def _next(self) -> Message | None:
        with self._changed:
            while not self._waiting:
                if self._ends:
                    return None
                self._changed.wait()
            return self._waiting.popleft()
