"""All hooks of a run: they get each event while it works, and are waited for at its end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from obelics_pipeline.core.errors import Stopped, UserError, answer_to
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import Event, EventLog
from obelics_pipeline.jobs.hooks.courier import Courier
from obelics_pipeline.jobs.hooks.hook import Hook


@contextmanager
def telling(hooks: Sequence[Hook], events: EventLog, display: Display) -> Iterator[None]:
    """Tell hooks of what is written to the log while the block runs; an exception that ends it is written as well.

    At the end the hooks are waited for, as long as each may take for one message. A line is shown, and written, when a
    hook has lost its first message, and one at the end for all that it lost.
    """
    couriers = [Courier(hook) for hook in hooks]

    def say(line: str) -> None:
        events.write("told", line=line)
        display.say(line)

    def tell(event: Event) -> None:
        for courier in couriers:
            courier.take(event)
        for courier in couriers:
            if line := courier.warning():
                say(line)

    try:
        with events.heard_by(tell):
            try:
                yield
            except BaseException as error:
                events.write("run_stopped", **_end_of(error))
                raise
    finally:
        try:
            for line in _lost(couriers):
                say(line)
        finally:
            for courier in couriers:
                courier.close()


def _lost(couriers: Sequence[Courier]) -> Iterator[str]:
    """What each of them lost, a line, once it has delivered all, or has had its time."""
    now = time.monotonic()
    for courier in couriers:
        courier.end()
    yield from filter(None, [courier.finish(now) for courier in couriers])


def _end_of(error: BaseException) -> dict[str, Any]:
    """Why a run was stopped, in a line, and the exit code of its command."""
    told = (answer_to(error) or error) if isinstance(error, OSError) else error
    if isinstance(told, KeyboardInterrupt):
        told = Stopped("stopped by Ctrl-C")
    if isinstance(told, UserError | Stopped):
        return {"reason": str(told), "exit_code": told.exit_code}
    return {"reason": " ".join(f"{type(told).__name__}: {told}".split()), "exit_code": 1}
