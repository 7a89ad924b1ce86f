"""Which rows a step trains on: a pure function of the cursor, so that a run that stops goes on with the next row.

Positions are the order of training: 0 to n_rows - 1 are the plan's rows, from n_rows on come those that the ledger
puts to the end, in the order of its entries. Rows that it leaves out are jumped over. Positions never move: an undone
entry keeps its own, which then are jumped over.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.entries import RequeueRows, Rollback, SkipRows
from obelics_pipeline.training.train.state.ledger import Holding


@dataclass(frozen=True)
class StepRows:
    """The rows of one step; none: the run is done."""

    cursor: int  # the position it began at
    positions: tuple[int, ...]
    rows: tuple[int, ...]  # of the plan, one for each position
    next_cursor: int  # what the next step begins at


@dataclass(frozen=True)
class RowOrder:
    """All rows in the order of training. `row_order` makes one of a ledger."""

    n_rows: int  # of the plan
    skipped: tuple[tuple[int, int], ...] = ()  # positions, [start, stop), sorted and apart
    tail: tuple[tuple[int, int], ...] = ()  # ranges of the plan's rows that come after it

    @property
    def stop(self) -> int:
        """The position after the last."""
        return self.n_rows + sum(stop - start for start, stop in self.tail)

    def row(self, position: int) -> int:
        """The row of the plan at a position. Raises IndexError if no row is there."""
        if not 0 <= position < self.stop:
            raise IndexError(f"position {position} of {self.stop}")
        if position < self.n_rows:
            return position
        position -= self.n_rows
        for start, stop in self.tail:
            if position < stop - start:
                return start + position
            position -= stop - start
        raise AssertionError("unreachable")

    def step(self, cursor: int, rows_per_step: int) -> StepRows:
        """The rows of the step that begins at a cursor: fewer in the last step, none after it."""
        positions: list[int] = []
        at = cursor
        while len(positions) < rows_per_step and (at := self._next(at)) < self.stop:
            positions.append(at)
            at += 1
        end = positions[-1] + 1 if positions else cursor
        return StepRows(cursor, tuple(positions), tuple(self.row(position) for position in positions), end)

    def left(self, cursor: int) -> int:
        """How many rows are still to come from a cursor on."""
        skipped = sum(max(0, min(stop, self.stop) - max(start, cursor)) for start, stop in self.skipped)
        return max(0, self.stop - cursor - skipped)

    def _next(self, position: int) -> int:
        """This position, or the first after the skipped ones that it lies in."""
        place = bisect_right(self.skipped, (position, self.stop + 1)) - 1
        return max(position, self.skipped[place][1]) if place >= 0 else position


def row_order(n_rows: int, changes: Sequence[Holding]) -> RowOrder:
    """The order of a plan of so many rows under a ledger (`ledger.holdings`).

    Raises `UserError` where a range reaches beyond the positions that there were when its entry was written.
    """
    order = RowOrder(n_rows)
    skipped: list[tuple[int, int]] = []
    for holding in changes:
        entry = holding.entry
        if isinstance(entry, Rollback) and entry.rows and holding.until is None:
            skipped.append(entry.rows)
        elif isinstance(entry, SkipRows) and holding.until is None:
            skipped.append((entry.start, entry.stop))
        elif isinstance(entry, RequeueRows):
            if entry.stop > order.stop and holding.until is not None:
                continue
            if entry.stop > order.stop:
                raise UserError(
                    f"ledger: entry {entry.number} puts rows {entry.start}:{entry.stop} to the end, and there are "
                    f"{order.stop}; obelics intervene RUN undo {entry.number}"
                )
            added = _ranges(order.row(position) for position in range(entry.start, entry.stop))
            longer = RowOrder(n_rows, (), (*order.tail, *added))
            if holding.until is not None:
                skipped.append((order.stop, longer.stop))
            order = longer
    return RowOrder(n_rows, _apart(skipped), order.tail)


def rows_of_rank(rows: Sequence[int], rank: int, ranks: int) -> tuple[int, ...]:
    """The rows of a step that a rank takes: every `ranks`-th. In the last step a rank may get none."""
    return tuple(rows[rank::ranks])


def _ranges(rows: Iterable[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and found[-1][1] == row:
            found[-1] = found[-1][0], row + 1
        else:
            found.append((row, row + 1))
    return found


def _apart(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sorted, and none touches the next: so after one comes a position that is trained on."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        elif stop > start:
            found.append((start, stop))
    return tuple(found)
