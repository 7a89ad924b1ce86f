"""The CPU's part of the work done ahead, by a thread that lives as long as the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Prepared = TypeVar("Prepared")


class Prefetch(Generic[Item, Prepared]):
    """`prepare` of one item after the other, each while the caller has the one before.

    Where the caller knows what it will ask for after this, `announce` begins with that at once: the device does not
    wait between two calls.
    """

    def __init__(self, prepare: Callable[[Item], Prepared]) -> None:
        self._prepare = prepare
        self._thread = ThreadPoolExecutor(1)
        self._announced: tuple[Item, Future[Prepared]] | None = None

    def announce(self, item: Item) -> None:
        """Begin with the first item of a call to come, behind what is waiting; one is remembered at a time."""
        if self._announced is not None:
            self._announced[1].cancel()
        self._announced = (item, self._thread.submit(self._prepare, item))

    def __call__(self, items: Sequence[Item]) -> Iterator[Prepared]:
        """What `prepare` makes of each, in order. Raises what it raises, at the item it raised it for."""
        waiting = [self._first(item) for item in items[:1]]
        for i in range(len(items)):
            ready = waiting.pop().result()
            waiting += [self._thread.submit(self._prepare, item) for item in items[i + 1 : i + 2]]
            yield ready

    def _first(self, item: Item) -> Future[Prepared]:
        if self._announced is None or self._announced[0] != item:
            return self._thread.submit(self._prepare, item)
        begun, self._announced = self._announced[1], None
        return begun
