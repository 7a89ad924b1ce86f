"""What the loop is fed: from a cursor on, step after step, the rows that its order names and their micro-batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obelics_pipeline.training.plan.plan_file import Plan
from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.config import LoaderConfig
from obelics_pipeline.training.train.loader import dealt, micro_batches
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.state.cursor import RowOrder, StepRows
from obelics_pipeline.training.train.stored_rows import RowReader, Rows


@dataclass(frozen=True, eq=False)
class Feed:
    """Reads for one process. `micro_rows` rows at once, `tokens` places a row."""

    plan: Plan
    reader: RowReader
    processes: Processes
    micro_rows: int
    config: LoaderConfig

    def steps(self, order: RowOrder, cursor: int) -> Iterator[tuple[StepRows, tuple[MicroBatch, ...]]]:
        """All steps from a cursor on. Reads ahead: call it again if the order has changed."""
        coming: list[StepRows] = []

        def dealt_out() -> Iterator[list[list[int]]]:
            at = cursor
            while (step := order.step(at, self.plan.rows_per_step)).rows:
                coming.append(step)
                yield self._mine(step.rows)
                at = step.next_cursor

        for batches in self._read(dealt_out(), self.reader):
            yield coming.pop(0), batches

    def held_out(self, rows: Rows, count: int) -> Iterator[MicroBatch]:
        """This process's micro-batches of the first rows of a held-out plan."""
        reader = RowReader(rows, self.reader.vocabulary, self.reader.side, self.reader.fit)
        for batches in self._read(iter([self._mine(tuple(range(count)))]), reader):
            yield from batches

    def rows(self, numbers: tuple[int, ...]) -> tuple[MicroBatch, ...]:
        """This process's micro-batches of some rows, as one step."""
        return next(self._read(iter([self._mine(numbers)]), self.reader))

    def _mine(self, rows: tuple[int, ...]) -> list[list[int]]:
        return dealt(rows, self.processes.rank, self.processes.world, self.micro_rows)

    def _read(self, steps: Iterator[list[list[int]]], reader: RowReader) -> Iterator[tuple[MicroBatch, ...]]:
        tokens, pad = self.plan.sequence_tokens, self.reader.vocabulary.pad
        on_gpu = self.processes.device.type == "cuda"
        return micro_batches(steps, reader, tokens, pad, self.config.workers, self.config.ahead, on_gpu)
