"""Which attempt of a run has which step: every start, resume and rollback begins an attempt at a step of another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BEGINNINGS = ("start", "resume", "rollback")  # kinds of the ledger that begin an attempt
Part = tuple[int, int, int]  # an attempt, its first and its last step


@dataclass(frozen=True)
class Attempt:
    """Its steps follow step `from_step` of `parent`, which is None where the run began."""

    number: int
    parent: int | None
    from_step: int
    kind: str = "start"


class Lineage:
    """The attempts of a run."""

    def __init__(self, attempts: Iterable[Attempt]) -> None:
        self.attempts = {attempt.number: attempt for attempt in attempts}

    @property
    def last(self) -> int:
        """The attempt that the run is at, or ended with."""
        return max(self.attempts)

    def parts(self, attempt: int, first: int, last: int) -> list[Part]:
        """The steps `first` to `last` as an attempt has had them: its own, and before these those of its parents."""
        found: list[Part] = []
        at: int | None = attempt
        while at is not None and last >= first:
            one = self.attempts[at]
            if last > one.from_step:
                found.append((at, max(first, one.from_step + 1), last))
                last = one.from_step
            at = one.parent if one.parent in self.attempts and one.parent != at else None
        return found[::-1]


def lineage_of(entries: Sequence[Mapping[str, Any]], first_steps: Mapping[int, int]) -> Lineage:
    """The lineage that a ledger tells. `first_steps` are those of the attempts that the metrics know.

    An attempt that the ledger does not know of is taken to follow the one before it.
    """
    found: dict[int, Attempt] = {}
    for entry in entries:
        if entry.get("kind") in BEGINNINGS and isinstance(entry.get("attempt"), int):
            number, parent = entry["attempt"], entry.get("parent")
            if isinstance(parent, int) and 0 < parent < number:
                found[number] = Attempt(number, parent, int(entry.get("from_step") or 0), entry["kind"])
            else:
                found.setdefault(number, Attempt(number, None, int(entry.get("from_step") or 0), entry["kind"]))
    for number, step in sorted(first_steps.items()):
        earlier = [other for other in found if other < number]
        found.setdefault(number, Attempt(number, max(earlier) if earlier else None, step - 1, "resume"))
    return Lineage(found[number] for number in sorted(found))
