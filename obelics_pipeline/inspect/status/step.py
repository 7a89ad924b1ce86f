"""A step of a run as its events tell it: units, input, ledgers, and what its units took."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.inspect.status.untrusted import count_of, seconds_of, text_of, values_of

MOST_NOUNS, MOST_REASONS = 20, 2_000  # of a step: a log with more is none of ours
OTHERS = "others"


@dataclass
class Step:
    """Units in all and done, in seconds since 1970 when it began and ended; `input` is by its noun: bytes, rows, urls.

    `fresh` are the units, and `fresh_input` what they read, that were done since it began.
    """

    name: str
    began: float
    units: int
    done: int
    input: Counter[str] = field(default_factory=Counter)
    input_done: Counter[str] = field(default_factory=Counter)
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    fresh: int = 0
    fresh_input: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    changed: float = 0.0  # when a unit was last done, or failed
    ended: float | None = None

    @property
    def to_do(self) -> int:
        """Units that are neither done nor failed."""
        return 0 if self.ended is not None else max(0, self.units - self.done - self.failed)

    def unit_done(self, event: dict[str, Any]) -> None:
        """One more unit is done."""
        self.done += 1
        self._unit(event)
        add_ledgers(self.ledgers, event.get("ledgers"))

    def unit_failed(self, event: dict[str, Any]) -> None:
        """One more unit failed; what it would have read is not to do any more."""
        self.failed += 1
        self._unit(event)

    def _unit(self, event: dict[str, Any]) -> None:
        self.fresh += 1
        self.changed = event["time"]
        read = counter_of(event.get("input"))
        self.input_done.update(read)
        self.fresh_input.update(read)

    def end(self, event: dict[str, Any]) -> None:
        """All that could be done is done; the ledgers are those of all units."""
        self.ended = event["time"]
        self.done = count_of(event.get("units"))
        if values_of(event.get("ledgers")):
            self.ledgers = {}
            add_ledgers(self.ledgers, event["ledgers"])


def begun(event: dict[str, Any]) -> Step:
    """The step that an event begins: its units that are done already count, with what they read and counted."""
    step = Step(
        text_of(event.get("stage")),
        event["time"],
        count_of(event.get("units")),
        count_of(event.get("done")),
        counter_of(event.get("input")),
        counter_of(event.get("input_done")),
        changed=event["time"],
    )
    add_ledgers(step.ledgers, event.get("ledgers"))
    return step


def counter_of(value: Any) -> Counter[str]:
    """Counts by name."""
    return Counter({text_of(name): count_of(n) for name, n in list(values_of(value).items())[:MOST_REASONS]})


def add_ledgers(ledgers: dict[str, Ledger], value: Any) -> None:
    """Add ledgers as an event has them, by noun."""
    for noun, counts in list(values_of(value).items())[:MOST_NOUNS]:
        name, told = text_of(noun), values_of(counts)
        if name in ledgers or len(ledgers) < MOST_NOUNS:
            ledger = ledgers.setdefault(name, Ledger(name))
            ledger.entered += count_of(told.get("in"))
            ledger.kept += count_of(told.get("kept"))
            for sums, more in ((ledger.dropped, told.get("dropped")), (ledger.failed, told.get("failed"))):
                for reason, n in counter_of(more).items():
                    sums[reason if reason in sums or len(sums) < MOST_REASONS else OTHERS] += n


def seconds_told(event: dict[str, Any]) -> tuple[float, float] | None:
    """Seconds and CPU seconds of a unit; None where its event does not say them."""
    seconds, cpu = seconds_of(event.get("seconds")), seconds_of(event.get("cpu_seconds"))
    return None if seconds is None or cpu is None else (seconds, cpu)
