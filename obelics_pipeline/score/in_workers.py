"""Batches of rows scored by an engine, in order; a row that takes its worker down costs itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from obelics_pipeline.engines.attempts import WorkersDie
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.score.row_error import WORKER_LOST, RowError

Result = TypeVar("Result")


class Batch(Protocol):
    """Some rows, at least one."""

    def __len__(self) -> int: ...

    def halves(self) -> tuple[Any, Any]:
        """The same rows as two batches."""
        ...

    def sent(self) -> Any:
        """What of them a worker is given; picklable."""
        ...


Rows = TypeVar("Rows", bound=Batch)
Lost = Callable[[Rows, RowError], Result]  # the result of a single row that could not be scored


def in_workers(
    engine: Engine, work: Callable[[Any], Result], batches: Sequence[Rows], lost: Lost[Rows, Result]
) -> Iterator[list[Result]]:
    """For each batch the results of its rows: one, or several in their order where it had to be cut."""
    try:
        results = list(engine.map(work, [batch.sent() for batch in batches]))
    except WorkersDie:
        yield from (_alone(engine, work, batch, lost) for batch in batches)
    else:
        yield from ([result] for result in results)


def _alone(engine: Engine, work: Callable[[Any], Result], batch: Rows, lost: Lost[Rows, Result]) -> list[Result]:
    try:
        return list(engine.map(work, [batch.sent()]))
    except WorkersDie as error:
        if len(batch) == 1:
            return [lost(batch, RowError(WORKER_LOST, str(error)))]
        return [result for half in batch.halves() for result in _alone(engine, work, half, lost)]
