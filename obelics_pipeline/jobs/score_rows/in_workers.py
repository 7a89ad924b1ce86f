"""Batches of rows scored by an engine, in order; a row that takes its worker down costs itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from obelics_pipeline.engines.attempts import WorkersDie
from obelics_pipeline.stages.rows.row_error import WORKER_LOST, RowError

BYTES_PER_BATCH = 2**20  # of a batch of more than one row: about a second of work with the default config's filters

Result = TypeVar("Result")


class Batch(Protocol):
    """Some rows, at least one."""

    def __len__(self) -> int: ...

    def halves(self) -> tuple[Any, Any]:
        """The same rows as two batches."""
        ...

    def size(self) -> int:
        """Bytes in memory."""
        ...

    def sent(self) -> Any:
        """What of them a worker is given; picklable."""
        ...


class Maps(Protocol):
    """An engine, as far as rows need one."""

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterable[Any]:
        """What a picklable function gives for each item, in their order. Raises WorkersDie."""
        ...


Rows = TypeVar("Rows", bound=Batch)
Lost = Callable[[Rows, RowError], Result]  # the result of a single row that could not be scored


def windows(batches: Iterable[Rows], at_once: int) -> Iterator[list[Rows]]:
    """Batches to be held at the same time: `at_once`, or fewer where rows are large."""
    window: list[Rows] = []
    size = 0
    for batch in batches:
        window.append(batch)
        size += batch.size()
        if len(window) == at_once or size >= at_once * BYTES_PER_BATCH:
            yield window
            window, size = [], 0
    if window:
        yield window


def in_windows(
    batches: Iterable[Rows], at_once: int, engine: Maps, work: Callable[[Any], Result], lost: Lost[Rows, Result]
) -> Iterator[tuple[Rows, list[Result]]]:
    """Each batch with the results of its rows (see `in_workers`), in order; `at_once` batches are held."""
    for window in windows(batches, at_once):
        yield from zip(window, in_workers(engine, work, window, lost), strict=True)


def in_workers(
    engine: Maps, work: Callable[[Any], Result], batches: Sequence[Rows], lost: Lost[Rows, Result]
) -> Iterator[list[Result]]:
    """For each batch the results of its rows: one, or several in their order where it had to be cut."""
    try:
        results = list(engine.map(work, [batch.sent() for batch in batches]))
    except WorkersDie:
        yield from (_alone(engine, work, batch, lost) for batch in batches)
    else:
        yield from ([result] for result in results)


def _alone(engine: Maps, work: Callable[[Any], Result], batch: Rows, lost: Lost[Rows, Result]) -> list[Result]:
    try:
        return list(engine.map(work, [batch.sent()]))
    except WorkersDie as error:
        if len(batch) == 1:
            return [lost(batch, RowError(WORKER_LOST, str(error)))]
        return [result for half in batch.halves() for result in _alone(engine, work, half, lost)]
