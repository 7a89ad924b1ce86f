"""The attempts of a run as a tree, and which of their steps led to the model that there is now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.entries import Beginning, Entry

Part = tuple[int, int, int]  # an attempt, its first and its last step


@dataclass(frozen=True)
class Attempt:
    """A stretch of a run without a stop: it goes on after step `from_step` of its parent."""

    number: int
    parent: int | None
    from_step: int
    kind: str  # start, resume or rollback


class Lineage:
    """The attempts that a ledger tells of. Raises `UserError` where one goes on from an attempt that is not there."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.attempts: dict[int, Attempt] = {}
        for entry in entries:
            if not isinstance(entry, Beginning):
                continue
            if entry.attempt in self.attempts:
                raise UserError(f"ledger: entry {entry.number} begins attempt {entry.attempt} a second time")
            if entry.parent is not None and entry.parent not in self.attempts:
                raise UserError(f"ledger: entry {entry.number} goes on from attempt {entry.parent}, which never began")
            self.attempts[entry.attempt] = Attempt(entry.attempt, entry.parent, entry.from_step, entry.kind)
        self._final = self.line()

    def line(self, attempt: int | None = None) -> tuple[tuple[Attempt, int | None], ...]:
        """The attempts that lead to one (default: the last), oldest first, each with its last step that counts; None:
        all that it does."""
        found: list[tuple[Attempt, int | None]] = []
        at = self.attempts.get(self.last if attempt is None else attempt)
        until: int | None = None
        while at is not None:
            found.append((at, until))
            until = at.from_step if until is None else min(until, at.from_step)
            at = self.attempts.get(at.parent) if at.parent is not None else None
        return tuple(reversed(found))

    @property
    def last(self) -> int:
        """The attempt that the run is at, or ended with; 0 before the first."""
        return max(self.attempts, default=0)

    def parts(self, attempt: int, first: int, last: int) -> list[Part]:
        """The steps `first` to `last` as an attempt has had them: those of its parents, and its own."""
        line = ((one, last if until is None else min(last, until)) for one, until in self.line(attempt))
        found = [(one.number, max(first, one.from_step + 1), stop) for one, stop in line]
        return [part for part in found if part[1] <= part[2]]

    def owner(self, step: int) -> int | None:
        """The attempt whose step of this number is on the final line, done or still to do. Step 0 is the first's."""
        for attempt, until in self._final:
            if until is None or step <= until:
                return attempt.number
        return None

    def on_line(self, attempt: int, step: int) -> bool:
        """Whether this step of this attempt led to the model that there is now."""
        return self.owner(step) == attempt

    def stitched(self, done: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Of (attempt, step) pairs those on the final line, by step: the curve without what was rolled back."""
        return sorted({pair for pair in done if self.on_line(*pair)}, key=lambda pair: pair[1])

    def wasted(self, done: Iterable[tuple[int, int]]) -> int:
        """How many of the steps that were done are not on the final line."""
        return sum(not self.on_line(*pair) for pair in set(done))
