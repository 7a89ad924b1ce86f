"""The rule of retries, one for all engines: what is tried again, how often, and what ends the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.errors import DISK_FULL, Damaged, Stopped, UserError
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Failure, Work
from obelics_pipeline.engines.pool import Died, Raised

Item = TypeVar("Item")
Value = TypeVar("Value")

ATTEMPTS = 3  # tries at a unit that raises: storage and network have hiccups, a bug does not go away
CRASHES = 12  # tries at a unit that takes its worker down: enough to single out a few bad pages (see extract.suspects)


class Each(Protocol):
    """How an engine calls a function: yields the outcome of each item as it finishes.

    The caller may put items back into `waiting` meanwhile; every item that was taken from it comes back once.
    """

    def __call__(
        self, function: Callable[[Any], Any], waiting: deque[Any], /
    ) -> Iterator[tuple[Any, Any | Raised | Died]]:
        """Call `function` for each item of `waiting` in some worker."""
        ...


class WorkersDie(RuntimeError):
    """An item took down every worker that it was given to, or none came to an end with it in time."""


def units_done(each: Each, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
    """Every unit once, as they finish. A unit whose worker dies is tried again; the others never notice.

    Raises `Stopped` when the disk is full, `UserError` when a unit finds that the setting is wrong.
    """
    waiting = _Drawn(iter(units))  # a large run's are made as workers are free for them
    attempts: dict[str, int] = {}
    for unit, result in each(work, waiting):
        outcome = _outcome(result, unit, attempts)
        if isinstance(outcome, Unit):
            waiting.appendleft(outcome)
        else:
            yield unit, outcome


def in_order(each: Each, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
    """What a picklable function gives for each item, in their order. Raises what it raises, and WorkersDie.

    An item is made when a worker is free for it: `items` may be a generator over a whole run.
    """
    numbered = _Drawn(enumerate(items))
    results: dict[int, Value] = {}
    tries: dict[int, int] = {}
    for (number, item), result in each(partial(_second, function), numbered):
        if isinstance(result, Raised):
            raise result.error
        if isinstance(result, Died):
            tries[number] = tries.get(number, 0) + 1
            if tries[number] >= CRASHES:
                raise WorkersDie(f"a worker {result.how} {CRASHES} times at {item!r}"[:500])
            numbered.appendleft((number, item))
        else:
            results[number] = result
    return iter([results[number] for number in sorted(results)])


class _Drawn(deque[Any]):
    """Items that are drawn one by one, behind those that are put back."""

    def __init__(self, items: Iterator[Any]) -> None:
        super().__init__()
        self._items = items

    def __bool__(self) -> bool:
        if not len(self):
            self.extend(islice(self._items, 1))
        return len(self) > 0

    def popleft(self) -> Any:
        """The next item. Raises IndexError after the last one."""
        bool(self)
        return super().popleft()


def _second(function: Callable[[Item], Value], numbered: tuple[int, Item]) -> Value:
    return function(numbered[1])


def _outcome(result: Manifest | Raised | Died, unit: Unit, attempts: dict[str, int]) -> Manifest | Failure | Unit:
    """The outcome of a unit, or the unit itself if it should be tried again."""
    if isinstance(result, Manifest):
        return result
    if isinstance(result, Died):
        crashed = replace(unit, crashes=unit.crashes + 1)
        return crashed if crashed.crashes < CRASHES else Failure(f"its worker {result.how} {crashed.crashes} times")
    error = result.error
    if isinstance(error, Damaged):
        return Failure(str(error), error.locations)
    if isinstance(error, UserError | Stopped):
        raise error
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        raise Stopped(disk_full(error))
    attempts[unit.name] = attempts.get(unit.name, 0) + 1
    return unit if attempts[unit.name] < ATTEMPTS else Failure(f"{type(error).__name__}: {error}")


def disk_full(error: OSError) -> str:
    """The line a person reads when the disk is full."""
    where = f" while writing {error.filename}" if error.filename else ""
    return f"disk full{where}: nothing is damaged; free some space and run the same command again"
