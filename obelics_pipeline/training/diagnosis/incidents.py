"""The incidents of a run: entries of its ledger that belong together, from the first sign to what was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SIGNS = ("alarm", "skip_update", "wait", "hardware", "plateau", "no_progress")
ACTIONS = (
    "rollback", "lr", "skip_rows", "requeue_rows", "weight_decay", "reset_moments", "unfreeze", "clip", "undo", "stop",
)  # fmt: skip
APART = 50  # steps without an entry, from which the next one is another incident's
NEAR = 50  # steps from an event of the hardware within which an incident may be its work

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Incident:
    """Entries of the ledger, in order. `attempt` is the one that it happened in, which a rollback ends."""

    attempt: int
    entries: Sequence[Entry]

    @property
    def first(self) -> int:
        """The step of its first sign."""
        return min(step_of(e) for e in self.entries if e["kind"] != "rollback" or len(self.entries) == 1)

    @property
    def last(self) -> int:
        """The last step that was concerned, before a rollback."""
        return max(step_of(e) for e in self.entries)

    @property
    def peak(self) -> int:
        """The step of its last sign inside of the model: there the spike is to be explained."""
        signs = [step_of(e) for e in self.entries if e["kind"] in ("alarm", "skip_update", "wait")]
        return max(signs, default=self.first)

    @property
    def rolled_back(self) -> bool:
        """Whether steps were given up."""
        return any(e["kind"] == "rollback" for e in self.entries)


def incidents_of(ledger: Sequence[Entry]) -> list[Incident]:
    """In the order of the ledger. What a person does long after the last sign is an incident of its own."""
    found: list[list[Entry]] = []
    open_ = False
    for entry in ledger:
        if entry.get("kind") not in (*SIGNS, *ACTIONS):
            continue
        rollback = entry["kind"] == "rollback"
        if open_ and (rollback or _same(found[-1], entry)):
            found[-1].append(entry)
        else:
            found.append([entry])
        open_ = not rollback
    return [Incident(_attempt(entries), entries) for entries in found]


def step_of(entry: Entry) -> int:
    """The step that an entry is about."""
    return int(entry.get("step") or 0)


def near_hardware(
    incidents: Sequence[Incident], ledger: Sequence[Entry], last_step: int
) -> tuple[int, int, float] | None:
    """How many incidents are near an event of the hardware, of how many, and how often chance has as many.

    Chance is every shift of the events along the run, around its end: their distances from each other stay. None where
    there is no incident, or no event. An incident that is nothing but such an event would prove itself: it does not
    count.
    """
    events = sorted({step_of(e) for e in ledger if e.get("kind") == "hardware"})
    starts = [i.first for i in incidents if any(e["kind"] in ("alarm", "skip_update", "rollback") for e in i.entries)]
    if not events or not starts or last_step < 1:
        return None

    def hits(shift: int) -> int:
        moved = [(event + shift) % last_step for event in events]
        return sum(any(abs(start - event) <= NEAR for event in moved) for start in starts)

    every = max(1, last_step // 10_000)
    shifts = range(0, last_step, every)
    seen = hits(0)
    return seen, len(starts), sum(hits(shift) >= seen for shift in shifts) / len(shifts)


def format_entry(entry: Entry) -> Iterator[tuple[str, str]]:
    """The fields of a ledger entry beside its step and kind: the reason, then its values."""
    if entry.get("why"):
        yield "why", str(entry["why"])
    for name, value in {**(entry.get("evidence") or {}), **entry}.items():
        if name in ("number", "attempt", "step", "kind", "why", "evidence", "time") or value in (None, "", [], {}):
            continue
        yield name, str(value)


def _same(entries: Sequence[Entry], entry: Entry) -> bool:
    return abs(step_of(entry) - step_of(entries[-1])) <= APART and entry.get("attempt") == entries[-1].get("attempt")


def _attempt(entries: Sequence[Entry]) -> int:
    first = entries[0]
    if isinstance(first.get("parent"), int):  # a rollback: it is the first entry of the attempt after it
        return int(first["parent"])
    return int(first.get("attempt") or 1)
